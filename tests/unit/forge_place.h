/* A forged log in a folder, checked as `writ audit verify` checks it. */
#ifndef TESTS_UNIT_FORGE_PLACE_H
#define TESTS_UNIT_FORGE_PLACE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "broker/audit/log_check.h"
#include "tests/lib/forge.h"
#include "writ/exit_codes.h"

struct forge_place {
	struct forge *forge;
	char dir[64];
	struct log_check_report report;
	struct err err;
};

static inline int forge_remove(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void forge_place_empty(struct forge_place *place)
{
	nftw(place->dir, forge_remove, 8, FTW_DEPTH | FTW_PHYS);
	mkdir(place->dir, 0700);
}

static inline struct forge_place *forge_place_new(void)
{
	struct forge_place *place = mem_alloc(sizeof(*place));

	place->forge = forge_new();
	snprintf(place->dir, sizeof(place->dir), "/tmp/writ-forge.XXXXXX");
	if (mkdtemp(place->dir) == NULL)
		abort();
	return place;
}

static inline void forge_place_free(struct forge_place *place)
{
	nftw(place->dir, forge_remove, 8, FTW_DEPTH | FTW_PHYS);
	forge_free(place->forge);
	mem_free(place);
}

/* options: keys may be left out; then the log's is pinned. */
static inline int forge_check_with(struct forge_place *place, struct log_check_options options)
{
	struct log_dir dir;

	if (options.verify.keys == NULL) {
		options.verify.keys = &place->forge->log_vkey;
		options.verify.key_count = 1;
	}
	options.threads = 1;
	if (log_dir_open(place->dir, &dir, &place->err) < 0)
		return -1;
	if (log_check(&dir, &options, &place->report, &place->err) < 0) {
		log_dir_close(&dir);
		return -1;
	}
	log_dir_close(&dir);
	return place->report.verdict.exit_code;
}

static inline int forge_check(struct forge_place *place)
{
	return forge_check_with(place, (struct log_check_options){.chain_only = false});
}

static inline int forge_check_kept(struct forge_place *place, const char *note)
{
	struct log_kept kept = {"kept", note, strlen(note)};

	return forge_check_with(place, (struct log_check_options){.kept = &kept, .kept_count = 1});
}

#endif
