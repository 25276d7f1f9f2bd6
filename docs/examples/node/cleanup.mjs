// A Cronfence job in Node.js: closes accounts, unless a newer run of the job has written them.
//
// As a Lambda function: handler(event). As a container: node cleanup.mjs, with the run object
// in CRONFENCE_RUN. The contract is docs/contract.md.

import { pathToFileURL } from 'node:url';

import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';

const client = new DynamoDBClient({});

/** The state machine knows a run's end by the name of its error: such a run is not Failed. */
function ended(name, message, cause) {
  const error = new Error(message, { cause });
  error.name = name;
  return error;
}

/** Sets attributes of an item, and its fence, unless a newer run has written it. */
export async function fencedUpdate(run, table, key, sets) {
  const entries = Object.entries({ ...sets, cronfence_fence: { N: String(run.fence) } });
  const fence = entries.length - 1;
  try {
    await client.send(new UpdateItemCommand({
      TableName: table,
      Key: key,
      UpdateExpression: `SET ${entries.map((_, i) => `#${i} = :${i}`).join(', ')}`,
      ConditionExpression: `attribute_not_exists(#${fence}) OR #${fence} <= :${fence}`,
      ExpressionAttributeNames: Object.fromEntries(entries.map(([name], i) => [`#${i}`, name])),
      ExpressionAttributeValues: Object.fromEntries(entries.map(([, value], i) => [`:${i}`, value])),
    }));
  } catch (error) {
    if (error.name !== 'ConditionalCheckFailedException') throw error;
    throw ended('Cronfence.LeaseLost', `write with fence ${run.fence} refused: a newer run has written here`, error);
  }
}

/** Reads the job's guard and throws why the run should end. Needs GetItem on the run's table. */
export async function lookAtGuard(run) {
  const { Item: guard = {} } = await client.send(new GetItemCommand({
    TableName: run.table,
    Key: { pk: { S: run.job }, sk: { S: 'guard' } },
    ConsistentRead: true,
  }));
  if (guard.run?.M?.id?.S !== run.run || guard.fence?.N !== String(run.fence) || guard.mark) {
    throw ended('Cronfence.LeaseLost', "the run no longer holds its job's guard");
  }
  if (guard.stop) throw ended('Cronfence.Stop', 'the run is asked to stop');
}

export async function handler(run) {
  for (const account of run.payload.accounts) {
    if (Date.now() >= Date.parse(run.deadline)) { // the wall clock goes on while a process is paused
      throw ended('Cronfence.MaxRunTime', 'the run had its maximum run time');
    }
    if (process.env.WATCH_GUARD) await lookAtGuard(run);
    await fencedUpdate(run, process.env.ACCOUNTS_TABLE, { pk: { S: account }, sk: { S: 'account' } }, {
      status: { S: 'closed' },
      closed_by: { S: run.tick },
    });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await handler(JSON.parse(process.env.CRONFENCE_RUN));
  } catch (error) { // whatever it is: exit status 0 would be success
    console.error(`${error.name}: ${error.message}`);
    process.exitCode = 1;
  }
}
