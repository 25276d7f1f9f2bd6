package schema

// More environment variables of the Lambda functions, set where they differ from the default.
const (
	EnvRetention = "CRONFENCE_RETENTION_DAYS" // how long ledger rows are kept; Retention when empty
	EnvLogLevel  = "CRONFENCE_LOG_LEVEL"      // lines below it are not logged; LogInfo when empty
	// EnvNoticeTopic is the ARN of the topic that the sentinel's weekly message goes to.
	EnvNoticeTopic = "CRONFENCE_NOTICE_TOPIC"
)

// Levels of log lines, low to high.
const (
	LogInfo  = "INFO"
	LogError = "ERROR"
)
