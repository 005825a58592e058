/* A bundle for tests of the evaluator, written by hand so that the reader is tested without the
 * compiler. Text with holes: a test puts its own rules in. */
#ifndef TEST_POLICY_SAMPLE_H
#define TEST_POLICY_SAMPLE_H

#define SAMPLE_HEAD                                                                                \
	"{\"writ_bundle\":1,"                                                                      \
	"\"scopes\":{\"sales\":{\"at\":\"scopes/sales.yaml:2\",\"owner\":\"team:sales-data\","     \
	"\"timezone\":\"UTC\"}},"                                                                  \
	"\"agents\":{"                                                                             \
	"\"sales-query-01\":{\"at\":\"scopes/sales.yaml:6\",\"hands_to\":[\"sales-report-01\"],"   \
	"\"id\":\"spiffe://corp.example/agent/sales-query-01\",\"per_task\":{\"attempts\":3,"      \
	"\"model_calls\":7,\"scan_bytes\":268435456,\"time_ms\":60000,\"tool_calls\":6,"           \
	"\"tool_errors\":2},\"role\":\"query\",\"scope\":\"sales\",\"token_seconds\":300},"        \
	"\"sales-report-01\":{\"at\":\"scopes/sales.yaml:13\",\"hands_to\":[],"                    \
	"\"id\":\"spiffe://corp.example/agent/sales-report-01\",\"per_task\":{\"attempts\":0,"     \
	"\"model_calls\":2,\"scan_bytes\":0,\"time_ms\":30000,\"tool_calls\":0,"                   \
	"\"tool_errors\":0},\"role\":\"report\",\"scope\":\"sales\",\"token_seconds\":300}},"      \
	"\"functions\":{\"few\":[\"count\",\"sum\"],\"text\":[\"lower\"]},\"rules\":["
#define SAMPLE_TAIL "]}"

#define SAMPLE_LIMITS                                                                              \
	"\"per_call\":{\"bytes\":1048576,\"rows\":500,\"scan_bytes\":67108864,\"time_ms\":5000}"

#define SAMPLE_READ_SALES                                                                          \
	"{\"agents\":[\"sales-query-01\"],\"at\":\"scopes/sales.yaml:21\",\"data\":{\"database\":" \
	"\"sales\",\"functions\":[\"few\"],\"tables\":{\"customers\":[\"customer_id\","            \
	"\"region\"],\"orders\":\"all\"}},\"effect\":\"allow\",\"id\":\"read-sales\","             \
	SAMPLE_LIMITS ",\"tools\":[\"run_query\",\"list_tables\",\"describe_table\"],"             \
	"\"users\":[\"group:sales\",\"user:user_42\"]}"

#define SAMPLE_NEVER_PAYROLL                                                                       \
	"{\"agents\":\"all\",\"at\":\"scopes/sales.yaml:34\",\"data\":{\"database\":\"sales\","    \
	"\"functions\":[],\"tables\":{\"payroll\":\"all\"}},\"effect\":\"deny\",\"id\":"           \
	"\"never-payroll\",\"tools\":\"all\",\"users\":\"everyone\"}"

#define SAMPLE_BUNDLE SAMPLE_HEAD SAMPLE_READ_SALES "," SAMPLE_NEVER_PAYROLL SAMPLE_TAIL

#endif
