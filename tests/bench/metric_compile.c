/*
 * How long a metric query takes to become SQL: metric_compile WORKSPACE SOURCE. Prints, for a plain
 * query and for one of two facts with comparison, the medians in microseconds: "2.1 9.8".
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/query/metrics/compile.h"
#include "base/clock.h"

#define BATCHES 101
#define PER_BATCH 20 /* a clock reading must not be what is measured */

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct metric_query *query_of(const char *text)
{
	struct metric_query *query = NULL;
	struct json *json = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0 ||
	    metric_query_from_json(json, &query, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	json_free(json);
	return query;
}

static void compile_once(const struct metric_query *query, const struct model *model)
{
	struct compiled_query *compiled = NULL;
	struct err err;

	if (metric_query_compile(query, model, &compiled, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	compiled_query_free(compiled);
}

static double median_us(const char *text, const struct model *model)
{
	struct metric_query *query = query_of(text);
	double times[BATCHES];

	for (size_t i = 0; i < BATCHES; i++) {
		int64_t from = clock_mono_us();

		for (size_t j = 0; j < PER_BATCH; j++)
			compile_once(query, model);
		times[i] = (double)(clock_mono_us() - from) / PER_BATCH;
	}
	metric_query_free(query);
	qsort(times, BATCHES, sizeof(times[0]), by_value);
	return times[BATCHES / 2];
}

int main(int argc, char **argv)
{
	struct buf mistakes = BUF_INIT;
	struct json *models = NULL;
	struct model *model = NULL;
	const char *source;
	struct err err;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: metric_compile WORKSPACE SOURCE\n");
		return 2;
	}
	source = argv[2];
	fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (model_compile(fd, &source, 1, &models, &mistakes, &err) < 0 ||
	    model_from_json(json_get(models, source), &model, &err) < 0) {
		fprintf(stderr, "%s\n%s", err.text, buf_str(&mistakes));
		return 2;
	}
	printf("%.1f %.1f\n",
	       median_us("{\"metrics\":[\"net_sales\"],\"dimensions\":[{\"field\":"
			 "\"customers.region\"}],\"period\":{\"from\":\"2026-07-01\",\"to\":"
			 "\"2026-10-01\"}}",
			 model),
	       median_us("{\"metrics\":[\"net_sales\",\"order_count\",\"units_sold\"],"
			 "\"dimensions\":[{\"field\":\"customers.region\"},{\"field\":\"time\","
			 "\"bucket\":\"month\"}],\"filters\":[{\"field\":\"orders.status\",\"op\":"
			 "\"not\",\"values\":[\"pending\"]}],\"period\":{\"from\":\"2026-07-01\","
			 "\"to\":\"2026-10-01\"},\"compare\":{\"from\":\"2026-04-01\",\"to\":"
			 "\"2026-07-01\"},\"conditions\":[{\"metric\":\"net_sales\",\"op\":\">\","
			 "\"value\":\"10\"}]}",
			 model));
	model_free(model);
	json_free(models);
	buf_clear(&mistakes);
	return 0;
}
