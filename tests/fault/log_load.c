/*
 * log_load WORKSPACE SIGNER IN-FLIGHT COUNT [acked]: the writer of the audit log with the real
 * signer process and nothing else, under load: records of about 500 bytes, so many in flight, so
 * many in all (0: for ever). For the fault tests with "acked", which writes the number of each
 * record on stdout (8 bytes) once it is durable; for the benchmark without, which prints
 *
 *   opened_ms append_p50_us append_p99_us records_per_s
 *
 * log_load FOLDER - - COUNT disk: the disk alone, for comparison: so many times 512 bytes appended
 * and synced (fdatasync); prints the median in microseconds.
 *
 * The size of segments comes from LOG_SEGMENT_BYTES. Exits 0 after a clean stop, 65 when the log is
 * damaged, 74 when it stopped.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "broker/audit/audit.h"
#include "broker/signer_client.h"
#include "writ/exit_codes.h"
#include "writ/record.h"

struct sent {
	struct load *load;
	uint64_t seq;
	int64_t at_us;
};

struct load {
	uv_loop_t loop;
	struct signer_client *signer;
	struct audit *audit;
	char *dir;
	pid_t signer_pid;
	struct sent *sent; /* one slot for each in flight */
	size_t in_flight;
	uint64_t count;
	uint64_t started, done;
	uint32_t *took_us; /* for COUNT records */
	int64_t opened_us, begun_us, ended_us;
	bool acked;
	bool ending;
	int exit_code;
};

static void finish(struct load *load, int exit_code);

static void fail(struct load *load, const char *what, const struct err *err, int exit_code)
{
	fprintf(stderr, "log_load: %s: %s\n", what, err->text);
	finish(load, exit_code);
}

static void on_closed(void *data, const struct err *err)
{
	struct load *load = data;

	if (err != NULL && load->exit_code == 0) {
		fprintf(stderr, "log_load: close: %s\n", err->text);
		load->exit_code = EXIT_IO;
	}
	load->audit = NULL;
	signer_client_free(TAKE(load->signer));
}

static void finish(struct load *load, int exit_code)
{
	if (load->ending)
		return;
	load->ending = true;
	load->exit_code = exit_code;
	load->ended_us = clock_mono_us();
	if (load->audit != NULL)
		audit_close(load->audit, on_closed, load);
	else
		signer_client_free(TAKE(load->signer));
}

static struct json *record(void)
{
	static const char hash[] =
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
	struct json *fields = json_object();

	json_set_str(fields, REC_EVENT, EV_TOOL_INTENT);
	json_set_str(fields, REC_AGENT, "spiffe://corp.example/agent/sales-query-01");
	json_set_str(fields, REC_CLIENT, "sales-query-01");
	json_set_str(fields, REC_DECISION, "allow");
	json_set_str(fields, REC_CODE, "rule");
	json_set_str(fields, REC_POLICY, hash);
	json_set_str(fields, REC_SUBJECT, "user:0123456789abcdef");
	json_set_str(fields, REC_SOURCE, "observed");
	json_set_str(fields, REC_TASK, "019a5d3c-0000-7000-8000-000000000000");
	json_set_str(fields, REC_TOOL, "run_query");
	json_set_int(fields, REC_EPOCH, 17);
	return fields;
}

static void on_durable(void *data, const struct err *err);

static void send_one(struct sent *sent)
{
	struct load *load = sent->load;

	if (load->ending || (load->count > 0 && load->started == load->count))
		return;
	load->started++;
	sent->at_us = clock_mono_us();
	sent->seq = audit_append(load->audit, record(), NULL, NULL);
	audit_when_durable(load->audit, sent->seq, on_durable, sent);
}

static void on_durable(void *data, const struct err *err)
{
	struct sent *sent = data;
	struct load *load = sent->load;

	if (err != NULL) {
		fail(load, "append", err, EXIT_IO);
		return;
	}
	if (load->acked && write(STDOUT_FILENO, &sent->seq, sizeof(sent->seq)) < 0)
		exit(1);
	if (load->took_us != NULL)
		load->took_us[load->done] = (uint32_t)(clock_mono_us() - sent->at_us);
	load->done++;
	if (load->count > 0 && load->done == load->count)
		finish(load, 0);
	else
		send_one(sent);
}

static void open_log(struct load *load, const struct signer_public *keys)
{
	const char *bytes = getenv("LOG_SEGMENT_BYTES");
	struct audit_options options = {
		.dir = load->dir,
		.origin = keys->origin,
		.vkey = keys->vkey,
		.signer = signer_client_for_audit(load->signer),
		.epoch = &keys->epoch,
		.limits = {.segment_bytes = bytes == NULL ? 0 : strtoull(bytes, NULL, 10)}};
	struct audit_opened opened;
	int64_t before = clock_mono_us();
	struct err err;

	if (audit_open(&load->loop, &options, &load->audit, &opened, &err) < 0) {
		load->audit = NULL;
		fail(load, "open", &err, err.kind == ERR_INVALID ? EXIT_AUDIT_DAMAGED : EXIT_IO);
		return;
	}
	load->opened_us = clock_mono_us() - before;
	if (load->acked) { /* what was found comes first */
		uint64_t found = opened.size;

		if (write(STDOUT_FILENO, &found, sizeof(found)) < 0)
			exit(1);
	}
	signer_client_resume(load->signer, load->audit);
	load->begun_us = clock_mono_us();
	for (size_t i = 0; i < load->in_flight; i++)
		send_one(&load->sent[i]);
}

static void on_keys(void *self, const struct signer_public *keys)
{
	struct load *load = self;

	if (load->audit == NULL && !load->ending)
		open_log(load, keys);
}

static void on_down(void *self, const struct err *why)
{
	fail(self, "signer", why, EXIT_IO);
}

static void on_disagreement(void *self, const struct err *why)
{
	fail(self, "signer", why, EXIT_AUDIT_DAMAGED);
}

static void on_request(void *self, const char *method)
{
	(void)self;
	fprintf(stderr, "log_load: the signer called %s\n", method);
}

static void start_signer(struct load *load, const char *workspace, const char *signer)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		exit(1);
	load->signer_pid = fork();
	if (load->signer_pid == 0) {
		unsetenv("LD_PRELOAD"); /* faults are for the writer */
		dup2(ends[1], 3);
		execl(signer, signer, workspace, "--reduced", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	signer_client_attach(load->signer, ends[0]);
}

static int compare_times(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static void print_figures(struct load *load)
{
	if (load->took_us == NULL || load->done < 100)
		return;
	qsort(load->took_us, load->done, sizeof(*load->took_us), compare_times);
	printf("%.1f %u %u %.0f\n", (double)load->opened_us / 1000, load->took_us[load->done / 2],
	       load->took_us[load->done * 99 / 100],
	       (double)load->done * 1e6 / (double)(load->ended_us - load->begun_us));
}

static void prepare(struct load *load, const char *workspace)
{
	CLEANUP(mem_freep) char *state = mem_format("%s/state", workspace);

	mkdir(workspace, 0700);
	load->dir = mem_format("%s/audit", state);
	mkdir(state, 0700);
	mkdir(load->dir, 0700);
	for (size_t i = 0; i < load->in_flight; i++)
		load->sent[i].load = load;
}

static int time_disk(const char *folder, size_t count)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/disk-test", folder);
	CLEANUP(mem_freep) uint32_t *took_us = mem_array(count, sizeof(*took_us));
	static const char bytes[512];
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	for (size_t i = 0; i < count; i++) {
		int64_t before = clock_mono_us();

		if (fd < 0 || write(fd, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes) ||
		    fdatasync(fd) < 0) {
			perror(path);
			return 1;
		}
		took_us[i] = (uint32_t)(clock_mono_us() - before);
	}
	qsort(took_us, count, sizeof(*took_us), compare_times);
	printf("%u\n", took_us[count / 2]);
	close(fd);
	unlink(path);
	return 0;
}

int main(int argc, char **argv)
{
	struct load load = {.exit_code = 0};
	struct signer_owner owner = {&load, on_keys, on_down, on_disagreement, on_request};

	if (argc < 5)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	crypto_init();
	load.in_flight = strtoul(argv[3], NULL, 10);
	load.count = strtoull(argv[4], NULL, 10);
	if (argc > 5 && strcmp(argv[5], "disk") == 0)
		return load.count == 0 ? 2 : time_disk(argv[1], load.count);
	load.acked = argc > 5;
	load.sent = mem_array(load.in_flight + 1, sizeof(*load.sent));
	load.took_us =
		load.count == 0 || load.acked ? NULL : mem_array(load.count, sizeof(uint32_t));
	prepare(&load, argv[1]);
	uv_loop_init(&load.loop);
	load.signer = signer_client_new(&load.loop, &owner);
	start_signer(&load, argv[1], argv[2]);
	uv_run(&load.loop, UV_RUN_DEFAULT);
	if (!load.acked)
		print_figures(&load);
	waitpid(load.signer_pid, NULL, 0);
	return load.exit_code;
}
