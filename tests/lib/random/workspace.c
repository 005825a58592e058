/*
 * writ-random-workspace DIR SEED [QUESTIONS [DENIALS [renamed]]]: a whole workspace with questions
 * about it and their answers (cases.jsonl), SQL that must reveal nothing (denials.jsonl), and every
 * hidden value, one a line (secrets.txt).
 *
 * `renamed` gives some columns other names in the database and in whatever names columns; the
 * questions and answers stay, byte for byte. DIR must not exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include "tests/lib/random/world.h"

#define COUNT_MAX 1000

static int make_folder(const char *folder, const char *name, struct err *err)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, name);

	if (mkdir(path, 0755) < 0)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	return 0;
}

static int write_file(const char *folder, const char *name, const char *text, struct err *err)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, name);
	FILE *file = fopen(path, "wxe");
	bool written;

	if (file == NULL)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	written = fputs(text, file) >= 0;
	if (fclose(file) != 0 || !written)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	return 0;
}

static int write_lines(const char *folder, const char *name, const struct json *list,
		       struct err *err)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	json_each(item, list)
	{
		json_write(item, &text);
		buf_add_char(&text, '\n');
	}
	return write_file(folder, name, buf_str(&text), err);
}

static int write_secrets(const struct world *world, const char *folder, struct err *err)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	for (size_t i = 0; i < world->table_count; i++) {
		const struct table *table = &world->tables[i];

		for (size_t j = 0; j < table->rows * table->column_count; j++) {
			const struct cell *cell = &table->cells[j];

			if (table->columns[j % table->column_count].role != ROLE_SECRET)
				continue;
			if (cell->kind == CELL_TEXT)
				buf_addf(&text, "%s\n", cell->text);
			else
				buf_addf(&text, "%lld\n", (long long)cell->number);
		}
	}
	return write_file(folder, "secrets.txt", buf_str(&text), err);
}

static int write_database(const struct world *world, const char *folder, struct err *err)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/data/data.db", folder);
	sqlite3 *sqlite = NULL;
	int result = -1;

	if (sqlite3_open(path, &sqlite) != SQLITE_OK)
		err_set(err, ERR_IO, "%s: %s", path, sqlite3_errmsg(sqlite));
	else
		result = world_write_database(world, sqlite, err);
	if (sqlite3_close(sqlite) != SQLITE_OK && result == 0)
		result = err_set(err, ERR_INTERNAL, "%s does not close", path);
	return result;
}

static int write_model(const struct world *world, const char *folder, struct err *err)
{
	CLEANUP(mem_freep) char *model = world_model_yaml(world, true);
	CLEANUP(mem_freep) char *scope = world_scope_yaml(world);
	CLEANUP(mem_freep) char *service = world_service_yaml(world);

	if (write_file(folder, "metrics/data.yaml", model, err) < 0 ||
	    write_file(folder, "scopes/data.yaml", scope, err) < 0)
		return -1;
	return write_file(folder, "writ.yaml", service, err);
}

static int write_workspace(const struct world *world, const char *folder, const struct json *cases,
			   const struct json *denials, struct err *err)
{
	static const char *const folders[] = {"data", "metrics", "scopes"};

	if (mkdir(folder, 0755) < 0)
		return err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (make_folder(folder, folders[i], err) < 0)
			return -1;
	if (write_model(world, folder, err) < 0 || write_database(world, folder, err) < 0 ||
	    write_lines(folder, "cases.jsonl", cases, err) < 0 ||
	    write_secrets(world, folder, err) < 0)
		return -1;
	return write_lines(folder, "denials.jsonl", denials, err);
}

static bool read_number(const char *text, unsigned long long most, unsigned long long *ret)
{
	char *end = NULL;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && text[0] != '-' && *ret <= most;
}

int main(int argc, char **argv)
{
	unsigned long long seed = 0, questions = 60, denied = 20;
	bool renamed = argc == 6 && strcmp(argv[5], "renamed") == 0;
	CLEANUP(json_freep) struct json *cases = NULL;
	CLEANUP(json_freep) struct json *denials = NULL;
	struct world *world;
	struct err err = {0};
	int result;

	if (argc < 3 || argc > 6 || !read_number(argv[2], ~0ull, &seed) ||
	    (argc > 3 && !read_number(argv[3], COUNT_MAX, &questions)) ||
	    (argc > 4 && !read_number(argv[4], COUNT_MAX, &denied)) || (argc == 6 && !renamed)) {
		fprintf(stderr, "usage: writ-random-workspace DIR SEED [QUESTIONS [DENIALS "
				"[renamed]]]\n");
		return 2;
	}
	umask(022);
	world = world_make(seed);
	cases = questions_make(world, (size_t)questions);
	doubts_add(world, cases);
	slips_add(world, cases);
	if (renamed)
		world_rename(world);
	denials = denials_make(world, (size_t)denied);
	result = write_workspace(world, argv[1], cases, denials, &err);
	world_free(world);
	if (result < 0)
		fprintf(stderr, "writ-random-workspace: %s\n", err.text);
	return result < 0 ? 1 : 0;
}
