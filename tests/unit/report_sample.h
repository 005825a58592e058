/* Results to report on, for the tests of reports. */
#ifndef TESTS_UNIT_REPORT_SAMPLE_H
#define TESTS_UNIT_REPORT_SAMPLE_H

#include "agents/report/report.h"

struct sample {
	struct json *tree; /* {"result","columns","words","period","flags"} */
	struct report_input input;
};

static void sample_init(struct sample *sample, const char *question, const char *text)
{
	struct err err = {0};

	if (json_parse_str(text, &sample->tree, &err) < 0)
		fail_msg("sample: %s", err.text);
	sample->input = (struct report_input){
		.question = question,
		.result = json_get(sample->tree, "result"),
		.columns = json_get(sample->tree, "columns"),
		.words = json_get(sample->tree, "words"),
		.period = json_get(sample->tree, "period"),
		.flags = json_get(sample->tree, "flags"),
	};
}

static void sample_clear(struct sample *sample)
{
	json_free(sample->tree);
}

#define SAMPLE_SALES_WORDS                                                                         \
	"\"words\":{\"metrics\":[{\"name\":\"net_sales\",\"label\":\"net sales\",\"definition\":"  \
	"\"quantity times unit price less discount\"}],\"filters\":[\"completed orders\"],"        \
	"\"period\":{\"from\":\"2026-07-01\",\"to\":\"2026-10-01\",\"label\":\"last quarter\","    \
	"\"field\":\"orders.order_date\"},\"missing\":[\"missing discount 0\",\"missing region "   \
	"Unknown\"],\"sentence\":\"completed orders, 2026-07-01 to before 2026-10-01, USD, "       \
	"missing discount 0, missing region Unknown\"},\"period\":{\"from\":\"2026-07-01\","       \
	"\"to\":\"2026-10-01\",\"timezone\":\"Europe/Berlin\"}"

#define SAMPLE_SALES                                                                               \
	"{\"result\":{\"columns\":[\"region\",\"net_sales\"],\"types\":[\"text\",\"real\"],"       \
	"\"rows\":[[\"East\",420.0],[\"West\",300.0],[\"South\",90.0],[\"Unknown\",40.0]],"        \
	"\"row_count\":4,\"truncated\":false},\"columns\":[{\"name\":\"region\",\"label\":"        \
	"\"region\",\"role\":\"dimension\",\"type\":\"text\",\"decimals\":0},{\"name\":"           \
	"\"net_sales\",\"label\":\"net sales\",\"role\":\"metric\",\"unit\":\"USD\",\"type\":"     \
	"\"decimal\",\"decimals\":2,\"non_negative\":true}]," SAMPLE_SALES_WORDS "}"

/* Sales, share and orders by region: three columns of values, two units. */
#define SAMPLE_SHARES                                                                              \
	"{\"result\":{\"columns\":[\"region\",\"net_sales\",\"net_sales_share\",\"orders\"],"      \
	"\"types\":[\"text\",\"real\",\"real\",\"integer\"],\"rows\":[[\"East\",420.0,49.4,2],"    \
	"[\"North East\",300.0,35.3,1],[null,130.5,15.3,2]],\"row_count\":3,\"truncated\":false}," \
	"\"columns\":[{\"name\":\"region\",\"label\":\"region\",\"role\":\"dimension\",\"type\":"  \
	"\"text\"},{\"name\":\"net_sales\",\"label\":\"net sales\",\"role\":\"metric\",\"unit\":"  \
	"\"USD\",\"decimals\":2},{\"name\":\"net_sales_share\",\"label\":\"share of net sales\","  \
	"\"role\":\"share\",\"unit\":\"%\",\"decimals\":1},{\"name\":\"orders\",\"label\":"        \
	"\"orders\",\"role\":\"metric\",\"decimals\":0}]," SAMPLE_SALES_WORDS "}"

#endif
