"""A Cronfence job in Python: closes one account, unless a newer run of the job has written it.

As a Lambda function: handler(event, context). As a container: python cleanup.py, with the run
object in CRONFENCE_RUN. The contract is docs/contract.md.
"""

import json
import os
import sys
from datetime import datetime, timezone

import boto3
from botocore.exceptions import ClientError

# The state machine knows a run's end by the name of its error: such a run is not Failed.
LeaseLost = type("Cronfence.LeaseLost", (Exception,), {})
MaxRunTime = type("Cronfence.MaxRunTime", (Exception,), {})
Stop = type("Cronfence.Stop", (Exception,), {})


def fenced_update(client, run, table, key, sets):
    """Sets attributes of an item, and its fence, unless a newer run has written it."""
    names = {f"#{i}": name for i, name in enumerate(sets)} | {"#fence": "cronfence_fence"}
    values = {f":{i}": value for i, value in enumerate(sets.values())} | {":fence": {"N": str(run["fence"])}}
    assignments = [f"#{i} = :{i}" for i in range(len(sets))] + ["#fence = :fence"]
    try:
        client.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="SET " + ", ".join(assignments),
            ConditionExpression="attribute_not_exists(#fence) OR #fence <= :fence",
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
            raise
        raise LeaseLost(f"write with fence {run['fence']} refused: a newer run has written here") from error


def look_at_guard(client, run):
    """Reads the job's guard and raises why the run should end. Needs GetItem on the run's table."""
    guard = client.get_item(
        TableName=run["table"],
        Key={"pk": {"S": run["job"]}, "sk": {"S": "guard"}},
        ConsistentRead=True,
    ).get("Item", {})
    held = (
        guard.get("run", {}).get("M", {}).get("id", {}).get("S") == run["run"]
        and guard.get("fence", {}).get("N") == str(run["fence"])
    )
    if not held or "mark" in guard:
        raise LeaseLost("the run no longer holds its job's guard")
    if "stop" in guard:
        raise Stop("the run is asked to stop")


def out_of_time(run):
    """Looks at the wall clock, which goes on while a process is paused."""
    return datetime.now(timezone.utc) >= datetime.fromisoformat(run["deadline"].replace("Z", "+00:00"))


def handler(run, context):
    client = boto3.client("dynamodb")
    for account in run["payload"]["accounts"]:
        if out_of_time(run):
            raise MaxRunTime("the run had its maximum run time")
        if os.environ.get("WATCH_GUARD"):
            look_at_guard(client, run)
        closed = {"status": {"S": "closed"}, "closed_by": {"S": run["tick"]}}
        fenced_update(client, run, os.environ["ACCOUNTS_TABLE"], {"pk": {"S": account}, "sk": {"S": "account"}}, closed)


if __name__ == "__main__":
    try:
        handler(json.loads(os.environ["CRONFENCE_RUN"]), None)
    except Exception as error:  # whatever it is: exit status 0 would be success
        sys.exit(f"{type(error).__name__}: {error}")
