/*
 * fork without exec: the connector has one thread, and the child closes everything but its own
 * descriptor before it does anything. What can fail: socketpair, mmap, fork.
 */
#include "broker/connectors/worker.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#define WORKER_FD 3 /* the worker's end, where the connector itself has the broker's */

struct worker {
	struct workers *workers;
	char *grant; /* NULL: a spare one that served nobody yet */
	pid_t pid;   /* 0 once reaped */
	struct channel *channel;
	void *job; /* NULL: idle */
	bool dead; /* killed: its end of stream is to come */
	int64_t idle_us;
	struct run_page *page;
	struct worker *next;
};

struct workers {
	uv_loop_t *loop;
	const struct source *source;
	void (*on_gone)(void *data);
	void *data;
	struct worker *list;
	uv_signal_t child;
};

static long page_bytes(void)
{
	return sysconf(_SC_PAGESIZE);
}

static void worker_free(struct worker *worker)
{
	munmap(worker->page, (size_t)page_bytes());
	mem_free(worker->grant);
	mem_free(worker);
}

static void worker_remove(struct worker *worker)
{
	struct worker **place = &worker->workers->list;

	while (*place != worker)
		place = &(*place)->next;
	*place = worker->next;
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct worker *worker = owner;
	struct workers *workers = worker->workers;

	(void)channel;
	(void)why;
	if (worker->pid > 0)
		kill(worker->pid, SIGKILL); /* it may have closed its end and gone on */
	worker_remove(worker);
	worker_free(worker);
	workers->on_gone(workers->data);
}

static const struct channel_handlers worker_handlers = {NULL, on_close};

/* pid stays known until the child is reaped, so kill() never meets a stranger. */
static void on_child(uv_signal_t *handle, int signal)
{
	struct workers *workers = handle->data;
	pid_t pid;

	(void)signal;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (struct worker *worker = workers->list; worker; worker = worker->next)
			if (worker->pid == pid)
				worker->pid = 0;
}

struct workers *workers_open(uv_loop_t *loop, const struct source *source,
			     void (*on_gone)(void *data), void *data)
{
	struct workers *workers = mem_alloc(sizeof(*workers));

	*workers =
		(struct workers){.loop = loop, .source = source, .on_gone = on_gone, .data = data};
	uv_signal_init(loop, &workers->child);
	workers->child.data = workers;
	uv_signal_start(&workers->child, on_child, SIGCHLD);
	uv_unref((uv_handle_t *)&workers->child);
	return workers;
}

static void on_signal_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

/* Ends a worker now; its pending call gets ERR_CANCELED before this returns. */
static pid_t worker_end(struct worker *worker)
{
	pid_t pid = worker->pid;

	if (pid > 0)
		kill(pid, SIGKILL);
	channel_close(TAKE(worker->channel));
	worker_remove(worker);
	worker_free(worker);
	return pid;
}

void workers_close(struct workers *workers)
{
	while (workers->list) {
		pid_t pid = worker_end(workers->list);

		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	uv_close((uv_handle_t *)&workers->child, on_signal_closed);
}

static void child_run(const struct source *source, int fd, pid_t parent, struct run_page *page)
{
	static const int signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0); /* it went while we came */
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		signal(signals[i], SIG_DFL);
	if (fd != WORKER_FD && dup2(fd, WORKER_FD) < 0)
		_exit(1);
	close_range(WORKER_FD + 1, ~0u, 0);
	source->work(source->data, WORKER_FD, page);
	_exit(0);
}

static struct worker *worker_new(struct workers *workers, const char *grant, struct err *err)
{
	struct worker *worker;
	void *page;
	int ends[2];
	pid_t parent = getpid(), pid;

	page = mmap(NULL, (size_t)page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	if (page == MAP_FAILED) {
		err_errno(err, "no memory for a worker");
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		err_errno(err, "no socket for a worker");
		munmap(page, (size_t)page_bytes());
		return NULL;
	}
	pid = fork();
	if (pid == 0)
		child_run(workers->source, ends[1], parent, page);
	close(ends[1]);
	if (pid < 0) {
		err_errno(err, "no process for a worker");
		close(ends[0]);
		munmap(page, (size_t)page_bytes());
		return NULL;
	}
	worker = mem_alloc(sizeof(*worker));
	worker->workers = workers;
	worker->grant = mem_str(grant);
	worker->pid = pid;
	worker->idle_us = clock_mono_us();
	worker->page = page;
	worker->channel = channel_open(workers->loop, ends[0], "worker", &worker_handlers, worker);
	worker->next = workers->list;
	workers->list = worker;
	return worker;
}

struct worker *workers_take(struct workers *workers, const char *grant, struct err *err)
{
	bool any = strcmp(grant, POOL_ANY_GRANT) == 0;
	struct worker *oldest = NULL, *spare = NULL;
	size_t count = 0;

	for (struct worker *worker = workers->list; worker; worker = worker->next) {
		bool usable = worker->pid > 0 && !worker->dead;

		count++;
		if (worker->job)
			continue;
		if (usable && worker->grant && strcmp(worker->grant, grant) == 0)
			return worker;
		if (usable && (!worker->grant || any))
			spare = worker;
		if (!oldest || worker->idle_us < oldest->idle_us)
			oldest = worker;
	}
	if (spare) {
		if (!any)
			spare->grant = mem_str(grant);
		return spare;
	}
	if (count >= POOL_WORKERS_MAX && oldest)
		worker_end(oldest);
	return worker_new(workers, any ? NULL : grant, err);
}

void workers_make_spare(struct workers *workers)
{
	struct err err;
	size_t count = 0;

	for (const struct worker *worker = workers->list; worker; worker = worker->next) {
		if (!worker->grant && !worker->dead)
			return;
		count++;
	}
	if (count < POOL_WORKERS_MAX && !worker_new(workers, NULL, &err))
		log_debug("no spare worker: %s", err.text);
}

size_t workers_busy(const struct workers *workers)
{
	size_t busy = 0;

	for (const struct worker *worker = workers->list; worker; worker = worker->next)
		busy += worker->job != NULL;
	return busy;
}

void workers_close_idle(struct workers *workers, int64_t since_us)
{
	for (struct worker *worker = workers->list; worker;) {
		struct worker *next = worker->next;

		if (!worker->job && worker->grant && worker->idle_us < since_us)
			worker_end(worker);
		worker = next;
	}
}

void worker_set_job(struct worker *worker, void *job)
{
	worker->job = job;
	if (!job)
		worker->idle_us = clock_mono_us();
}

bool worker_call(struct worker *worker, const char *method, struct json *params, channel_done *done,
		 void *data)
{
	return channel_call(worker->channel, method, params, 0, done, data) > 0;
}

void worker_cancel(struct worker *worker, uint64_t run)
{
	atomic_store(&worker->page->cancel, run);
}

bool worker_has_begun(const struct worker *worker, uint64_t run)
{
	return atomic_load(&worker->page->begun) == run;
}

void worker_kill(struct worker *worker)
{
	worker->dead = true;
	if (worker->pid > 0)
		kill(worker->pid, SIGKILL);
}
