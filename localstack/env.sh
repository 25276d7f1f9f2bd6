# shellcheck shell=bash
# Source it in bash: . localstack/env.sh [ministack|localstack]. Points the AWS SDKs, the CDK and
# cronfence at the emulator, and away from AWS: the keys are nobody's.
emulator=${1:-ministack}
export AWS_ENDPOINT_URL=http://127.0.0.1:4566 AWS_REGION=eu-west-1 AWS_DEFAULT_REGION=eu-west-1
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
unset AWS_PROFILE AWS_SESSION_TOKEN
# The CDK remembers which account a key belongs to: not that of another emulator.
CDK_HOME="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/.state/cdk-$emulator"
export CDK_HOME CDK_DISABLE_CLI_TELEMETRY=true
if [[ $emulator == localstack ]]; then # it tells buckets by host name; the name is 127.0.0.1
  export AWS_ENDPOINT_URL_S3=http://s3.localhost.localstack.cloud:4566
else
  unset AWS_ENDPOINT_URL_S3
fi
