// Package bench measures: what a decision costs, what a cold start costs against the least that
// a function with a DynamoDB client can do, what ten thousand jobs cost. Its figures stand in
// docs/performance.md with how to repeat them; nothing here asserts a time.
package bench
