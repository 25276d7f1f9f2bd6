"""Does what it reads with Powertools' idempotency: peer.py ENDPOINT TABLE.

A line is "OPERATION FROM TO": the operation once for each number from FROM to TO - 1, over one
warm connection. The answer is a line of JSON: the microseconds that each took. The operations
are what its decorator calls before and after a handler.
"""

import json
import os
import sys
import time

os.environ["POWERTOOLS_SERVICE_NAME"] = "peer"

import boto3
from aws_lambda_powertools.utilities.idempotency import DynamoDBPersistenceLayer, IdempotencyConfig
from aws_lambda_powertools.utilities.idempotency.exceptions import IdempotencyItemAlreadyExistsError

client = boto3.client(
    "dynamodb", endpoint_url=sys.argv[1], region_name="eu-west-1",
    aws_access_key_id="ministack", aws_secret_access_key="secret",
)
layer = DynamoDBPersistenceLayer(table_name=sys.argv[2], boto3_client=client)
layer.configure(IdempotencyConfig(), "peer.handler")


def claim(tick):
    layer.save_inprogress(data=tick, remaining_time_in_millis=600_000)


def duplicate(tick):
    try:
        claim(tick)
    except IdempotencyItemAlreadyExistsError:
        return
    raise AssertionError(f"claimed twice: {tick}")


def settle(tick):
    layer.save_success(data=tick, result={"ok": True})


operations = {"claim": claim, "duplicate": duplicate, "settle": settle}

for line in sys.stdin:
    name, first, end = line.split()
    took = []
    for i in range(int(first), int(end)):
        began = time.perf_counter_ns()
        operations[name]({"tick": f"tick-{i}"})
        took.append((time.perf_counter_ns() - began) // 1000)
    print(json.dumps(took), flush=True)
