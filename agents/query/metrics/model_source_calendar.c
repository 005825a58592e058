/*
 * The model compiler: the calendar of a model. The offsets of its time zone are read from the zone
 * data of this machine here, once, and stand in the model, so that what compiles queries needs
 * none. What can fail: a zone that is not there, a month that is none.
 */
#include "agents/query/metrics/model_source.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/timezone.h"

#define ZONE_FILE_MAX (1 << 20)
#define DAY_S INT64_C(86400)
#define STEP_S (14 * DAY_S) /* no zone changed twice within */

static int minutes_at(const struct buf *zone, int64_t utc_s, int *ret_minutes, struct err *err)
{
	int seconds;

	if (tzif_offset(zone->bytes, zone->len, utc_s, &seconds, err) < 0)
		return -1;
	*ret_minutes = seconds / 60;
	return 0;
}

static void push_offset(struct json *offsets, int64_t utc_s, int minutes)
{
	struct json *item = json_array();
	char day[DATE_LEN + 1];
	CLEANUP(mem_freep) char *text = NULL;
	int64_t days = utc_s / DAY_S;
	int second = (int)(utc_s % DAY_S);

	date_write(date_from_days(days), day);
	text = mem_format("%s %02d:%02d:%02d", day, second / 3600, second / 60 % 60, second % 60);
	json_push_str(item, text);
	json_push_int(item, minutes);
	json_push(offsets, item);
}

/* Every change from 1970 to 2060. */
static int find_offsets(const struct buf *zone, struct json *offsets, struct err *err)
{
	int64_t end = date_to_days((struct date){2060, 1, 1}) * DAY_S;
	int now, next;

	if (minutes_at(zone, 0, &now, err) < 0)
		return -1;
	push_offset(offsets, 0, now);
	for (int64_t at = 0; at < end; at += STEP_S) {
		int64_t low = at, high = at + STEP_S;

		if (minutes_at(zone, high, &next, err) < 0)
			return -1;
		if (next == now)
			continue;
		while (high - low > 1) {
			int64_t middle = low + (high - low) / 2;
			int there;

			if (minutes_at(zone, middle, &there, err) < 0)
				return -1;
			if (there == now)
				low = middle;
			else
				high = middle;
		}
		push_offset(offsets, high, next);
		now = next;
	}
	return 0;
}

static int read_zone(const char *name, struct json *offsets, struct err *err)
{
	CLEANUP(fd_closep) int folder = -1;
	CLEANUP(buf_clear) struct buf zone = BUF_INIT;
	int ignored;

	if (timezone_offset(name, 0, &ignored, err) < 0)
		return -1;
	folder = open(TIMEZONE_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || file_read_at(folder, name, ZONE_FILE_MAX, &zone, err) < 0)
		return err_set(err, ERR_NOT_FOUND, "the data of zone %s cannot be read", name);
	return find_offsets(&zone, offsets, err);
}

void source_calendar(struct source *source, const struct yaml *node, const struct json *extension,
		     struct json *model)
{
	const char *name = json_get_str(extension, "timezone");
	int64_t start = json_get_int(extension, "fiscal_year_start", 0);
	struct json *zone, *offsets;
	struct err err = {0};

	if (!json_is_null(json_get(extension, "fiscal_year_start")) && start < 1)
		source_mistake(source, node, "WRIT: fiscal_year_start is a month from 1 to 12");
	else if (start > 0)
		json_set_int(model, "fiscal_start", start);
	if (!name)
		return;
	offsets = json_array();
	if (read_zone(name, offsets, &err) < 0) {
		source_mistake(source, node, "WRIT: timezone: %s", err.text);
		json_free(offsets);
		return;
	}
	zone = json_object();
	json_set_str(zone, "name", name);
	json_set(zone, "offsets", offsets);
	json_set(model, "zone", zone);
}
