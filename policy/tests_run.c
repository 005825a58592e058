/* Each case is put to the evaluator; what came out is compared with what was expected. Pure. */
#include <string.h>

#include "policy/tests.h"

static bool same(const char *want, const char *got)
{
	return strcmp(want, got == NULL ? "" : got) == 0;
}

static void compare_limits(const struct call_limits *want, const struct call_limits *got,
			   struct buf *wrong)
{
	const struct {
		const char *name;
		int64_t want;
		int64_t got;
	} pairs[] = {{"rows", want->rows, got->rows},
		     {"bytes", want->bytes, got->bytes},
		     {"scan bytes", want->scan_bytes, got->scan_bytes},
		     {"milliseconds", want->time_ms, got->time_ms}};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (pairs[i].want >= 0 && pairs[i].want != pairs[i].got)
			buf_addf(wrong, "%s%s: wanted %lld, got %lld", wrong->len > 0 ? "; " : "",
				 pairs[i].name, (long long)pairs[i].want, (long long)pairs[i].got);
}

static void compare(const struct expectation *expect, const struct verdict *verdict,
		    struct buf *wrong)
{
	if (expect->effect != verdict->effect)
		buf_addf(wrong, "wanted %s, got %s", effect_words[expect->effect],
			 effect_words[verdict->effect]);
	if (expect->rule != NULL && !same(expect->rule, verdict->rule))
		buf_addf(wrong, "%swanted %s%s, got %s%s", wrong->len > 0 ? "; " : "",
			 expect->rule[0] == '\0' ? "no rule" : "rule ", expect->rule,
			 verdict->rule == NULL ? "no rule" : "rule ",
			 verdict->rule == NULL ? "" : verdict->rule);
	if (expect->code != NULL && !same(expect->code, verdict->code))
		buf_addf(wrong, "%swanted code %s, got %s", wrong->len > 0 ? "; " : "",
			 expect->code, verdict->code);
	compare_limits(&expect->limits, &verdict->limits, wrong);
	if (wrong->len > 0)
		buf_addf(wrong, " (%s)", verdict->reason);
}

void policy_tests_run(const struct bundle *bundle, const struct policy_tests *tests,
		      struct tests_result *ret_result)
{
	struct tests_result result = {.count = tests->count};

	tests_cover_begin(bundle, &result.cover);
	result.cases = mem_array(tests->count + 1, sizeof(*result.cases));
	for (size_t i = 0; i < tests->count; i++) {
		struct case_result *one = &result.cases[i];
		struct buf wrong = BUF_INIT;
		struct policy_trace trace;

		policy_decide_traced(bundle, call_spec_facts(tests->cases[i].spec), &one->verdict,
				     &trace);
		tests_cover_add(&result.cover, bundle, &trace);
		policy_trace_clear(&trace);
		compare(&tests->cases[i].expect, &one->verdict, &wrong);
		one->passed = wrong.len == 0;
		result.failed += !one->passed;
		if (!one->passed)
			one->wrong = buf_take(&wrong);
	}
	tests_cover_end(&result.cover);
	*ret_result = result;
}

void tests_result_clear(struct tests_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		mem_free(result->cases[i].wrong);
	mem_free(result->cases);
	tests_cover_clear(&result->cover);
	*result = (struct tests_result){0};
}
