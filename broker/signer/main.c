/*
 * writ-signer WORKSPACE [--checkpoint] [--reduced]: one channel on descriptor 3, one request at a
 * time. With --checkpoint descriptor 4 is the checkpoint and 5 the sealed epoch seed of the log,
 * which this user could not open.
 *
 * Before the first byte of the channel is read it has its keys and its last head, all the memory it
 * will ever use, and no right left but read, write and exit_group. It ends with the channel. What
 * can fail: keys or checkpoint that are not its own (exit 65), the disk (74), the sandbox (79); a
 * line that is not of the protocol ends it, since only a broken broker sends one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/line.h"
#include "base/log.h"
#include "base/rpc.h"
#include "broker/audit/layout.h"
#include "broker/signer/confine.h"
#include "broker/signer/publish.h"
#include "broker/signer/signer.h"
#include "writ/exit_codes.h"

/* Trees: a head.sign of all its leaves takes 1 MiB. Texts: its line twice, and small change. */
#define POOL_BYTES (4u << 20)
#define HEAP_BYTES (2u << 20)

struct arguments {
	const char *workspace;
	bool lent; /* checkpoint and epoch */
	bool reduced;
};

/* /dev/null stands for none. */
static int read_lent(int fd, const char *name, struct buf *out, bool *ret_found, struct err *err)
{
	char bytes[NOTE_BYTES_MAX + 1];
	struct stat stat;
	ssize_t len;

	if (fstat(fd, &stat) < 0)
		return err_errno(err, "%s on descriptor %d", name, fd);
	*ret_found = S_ISREG(stat.st_mode);
	if (!*ret_found)
		return 0;
	len = pread(fd, bytes, sizeof(bytes), 0);
	if (len < 0)
		return err_errno(err, "%s", name);
	if ((size_t)len > NOTE_BYTES_MAX)
		return err_set(err, ERR_INVALID, "%s: over %u bytes", name, NOTE_BYTES_MAX);
	buf_add(out, bytes, (size_t)len);
	return 0;
}

static int read_audit(int state_fd, const char *name, struct buf *out, bool *ret_found,
		      struct err *err)
{
	CLEANUP(fd_closep) int audit_fd = -1;
	struct err why;

	*ret_found = false;
	if (dir_open_private_at(state_fd, "audit", false, &audit_fd, &why) == 0 &&
	    file_read_at(audit_fd, name, NOTE_BYTES_MAX, out, &why) == 0) {
		*ret_found = true;
		return 0;
	}
	if (why.kind == ERR_NOT_FOUND)
		return 0;
	return err_set(err, why.kind, "%s", why.text);
}

static const char *name_of(const char *workspace)
{
	const char *slash = strrchr(workspace, '/');

	return slash == NULL ? workspace : slash + 1;
}

/* One of root may be ours only to pass through; otherwise audit.pub is made, and synced, in it. */
static int open_workspace(const char *path)
{
	const int flags = O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	int fd = open(path, O_RDONLY | flags);

	return fd < 0 && errno == EACCES ? open(path, O_PATH | flags) : fd;
}

struct found {
	struct buf checkpoint, epoch;
	bool has_checkpoint, has_epoch;
};

static void found_clear(struct found *found)
{
	buf_clear(&found->checkpoint);
	buf_clear(&found->epoch);
}

/* The epoch first: both may change meanwhile, and the head never comes before the epoch. */
static int find(const struct arguments *arguments, int state_fd, struct found *found,
		struct err *err)
{
	if (arguments->lent)
		return read_lent(SIGNER_EPOCH_FD, AUDIT_EPOCH, &found->epoch, &found->has_epoch,
				 err) < 0
			       ? -1
			       : read_lent(SIGNER_CHECKPOINT_FD, AUDIT_CHECKPOINT,
					   &found->checkpoint, &found->has_checkpoint, err);
	return read_audit(state_fd, AUDIT_EPOCH, &found->epoch, &found->has_epoch, err) < 0
		       ? -1
		       : read_audit(state_fd, AUDIT_CHECKPOINT, &found->checkpoint,
				    &found->has_checkpoint, err);
}

static int load(const struct arguments *arguments, struct signer *signer, struct err *err)
{
	CLEANUP(fd_closep)
	int workspace_fd = open_workspace(arguments->workspace);
	CLEANUP(fd_closep) int state_fd = -1;
	CLEANUP(fd_closep) int keys_fd = -1;
	CLEANUP(found_clear) struct found found = {.has_epoch = false};
	CLEANUP(signer_keys_clear) struct signer_keys keys = {.token = NULL};

	if (workspace_fd < 0)
		return err_errno(err, "open");
	if (dir_pass_private_at(workspace_fd, "state", &state_fd, err) < 0 ||
	    dir_open_private_at(state_fd, "signer", true, &keys_fd, err) < 0)
		return -1;
	if (signer_keys_load(keys_fd, name_of(arguments->workspace), &keys, err) < 0)
		return err_wrap(err, "state/signer");
	if (find(arguments, state_fd, &found, err) < 0 ||
	    signer_init(signer, &keys, found.has_checkpoint ? buf_str(&found.checkpoint) : NULL,
			found.checkpoint.len, err) < 0 ||
	    signer_take_epoch(signer, found.has_epoch ? buf_str(&found.epoch) : NULL,
			      found.epoch.len, err) < 0)
		return err_wrap(err, "state/audit");
	return signer_publish(workspace_fd, &signer->log_vkey, err);
}

/* All it will ever need: later there is nobody to ask. */
static void reserve_memory(void)
{
	json_use_pool(POOL_BYTES);
	mem_reserve(HEAP_BYTES);
	tzset(); /* the log's time stamps would read the zone file at the first line */
}

static void answer(struct signer *signer, const struct rpc_message *message, struct buf *out)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct err err;

	if (signer_handle(signer, message->method, message->params, &result, &err) < 0) {
		rpc_write_error(out, message->id, &err, NULL);
		log_info("refused: %s", err.text);
	} else {
		rpc_write_result(out, message->id, result);
	}
}

/* 1: go on; 0: the broker has gone; -1: failed. */
static int serve_one(struct signer *signer, struct line_reader *reader, struct buf *out,
		     struct err *err)
{
	CLEANUP(json_freep) struct json *line = NULL;
	struct rpc_message message;
	int got = line_read(reader, -1, &line, err);

	if (got <= 0)
		return got;
	if (rpc_read(line, &message, err) < 0)
		return -1;
	if (message.type != RPC_REQUEST)
		return err_set(err, ERR_INVALID, "a message that is no request");
	buf_reset(out);
	answer(signer, &message, out);
	return file_write_all(SIGNER_CHANNEL_FD, out->bytes, out->len, err) < 0 ? -1 : 1;
}

static int serve(struct signer *signer, struct line_reader *reader, struct err *err)
{
	struct buf out = BUF_INIT;
	int result;

	do
		result = serve_one(signer, reader, &out, err);
	while (result > 0);
	buf_clear(&out);
	return result;
}

static int exit_code_of(const struct err *err)
{
	switch (err->kind) {
	case ERR_INVALID:
		return EXIT_AUDIT_DAMAGED;
	case ERR_IO:
		return EXIT_IO;
	default:
		return EXIT_CONFIG;
	}
}

static int usage(void)
{
	log_error("usage: writ-signer WORKSPACE [--checkpoint] [--reduced]; it is started by `writ "
		  "serve`, with its channel on descriptor 3");
	return EXIT_USAGE;
}

/* The channel blocks: there is no loop, and no system call to wait with. */
static int prepare_channel(void)
{
	int flags = fcntl(SIGNER_CHANNEL_FD, F_GETFL);

	return flags < 0 ? -1 : fcntl(SIGNER_CHANNEL_FD, F_SETFL, flags & ~O_NONBLOCK);
}

static int read_arguments(int argc, char **argv, struct arguments *ret)
{
	if (argc < 2)
		return -1;
	*ret = (struct arguments){.workspace = argv[1]};
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--checkpoint") == 0 && !ret->lent)
			ret->lent = true;
		else if (strcmp(argv[i], "--reduced") == 0 && !ret->reduced)
			ret->reduced = true;
		else
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct arguments arguments;
	struct line_reader reader;
	struct signer signer;
	struct err err;
	int result;

	log_open("writ-signer");
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (read_arguments(argc, argv, &arguments) < 0 || prepare_channel() < 0)
		return usage();
	crypto_init();
	if (load(&arguments, &signer, &err) < 0) {
		log_error("%s: %s", arguments.workspace, err.text);
		return exit_code_of(&err);
	}
	line_reader_init(&reader, SIGNER_CHANNEL_FD, SIGNER_LINE_MAX);
	reserve_memory();
	if (signer_confine(arguments.reduced, &err) < 0) {
		log_error("sandbox: %s", err.text);
		return EXIT_NO_SANDBOX;
	}
	log_info("ready: %s, last head of size %llu", signer.keys.origin,
		 (unsigned long long)signer.last.size);
	result = serve(&signer, &reader, &err);
	if (result < 0)
		log_error("%s", err.text);
	/* No freeing: the kernel takes it all back, and giving memory back is not among our calls.
	 */
	_exit(result < 0 ? EXIT_NEGATIVE : EXIT_FINE);
}
