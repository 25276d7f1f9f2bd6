#!/usr/bin/env bash
# Asks every service that the stack uses for a list. LocalStack loads a service when it is first
# asked: now is better than in the middle of a deployment, and what the licence lacks shows here.
set -euo pipefail
ask() { awslocal "$@" >/dev/null || { echo "LocalStack does not answer: $*" >&2; exit 1; }; }
ask cloudformation list-stacks
ask cloudwatch describe-alarms
ask dynamodb list-tables
ask events list-rules
ask iam list-roles
ask lambda list-functions
ask logs describe-log-groups
ask s3api list-buckets
ask scheduler list-schedule-groups
ask sns list-topics
ask sqs list-queues
ask ssm describe-parameters
ask stepfunctions list-state-machines
