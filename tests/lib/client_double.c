/*
 * client_double SOCKET MODE: a person's program that breaks the rules. Prints one line per finding
 * and waits for nothing longer than 10 s; the stories judge what it prints.
 *
 *   garbage    one connection per bad line; how many of them were closed by the service
 *   long       a line over every bound
 *   half       connections that end inside a line
 *   slow       asks without end and never reads; says when no more is taken, then holds 3 s
 *   many N [S] N connections at once; how many were let in and refused, then holds 3 s, or S
 *   asks N     N questions at once on one connection; how each ended
 *   leave N    N connections that ask and leave at once
 *   say LINE   one request; prints the answer
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/lib/garbage.h"

#define WAIT_MS 10000
#define HOLD_S 3

#define ASK                                                                                        \
	"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ask\",\"params\":{\"question\":\"How many "   \
	"orders are there?\"}}\n"

static const char *socket_path;

static int die(const char *what)
{
	perror(what);
	exit(2);
}

static int connect_service(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = WAIT_MS / 1000};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	/* For getline(): what it has read ahead no poll() would see. */
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		die("setsockopt");
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		die("connect");
	return fd;
}

/* How many bytes were taken before the service left or took no more for a second. */
static size_t put(int fd, const char *bytes, size_t len)
{
	struct pollfd writable = {.fd = fd, .events = POLLOUT};
	size_t at = 0;

	while (at < len && poll(&writable, 1, 1000) == 1) {
		ssize_t sent = send(fd, bytes + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN)
			break;
		at += sent < 0 ? 0 : (size_t)sent;
	}
	return at;
}

/* 1 at the end of the stream, 0 when it did not come in time. */
static int ends(int fd)
{
	struct pollfd readable = {.fd = fd, .events = POLLIN};
	char bytes[4096];

	while (poll(&readable, 1, WAIT_MS) == 1)
		if (recv(fd, bytes, sizeof(bytes), 0) <= 0)
			return 1;
	return 0;
}

/* One line without its end, or NULL. */
static char *line(FILE *stream)
{
	static char *text;
	static size_t size;
	ssize_t len = getline(&text, &size, stream);

	if (len <= 0)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void garbage_mode(void)
{
	size_t count = sizeof(garbage) / sizeof(garbage[0]);

	for (size_t i = 0; i < count; i++) {
		int fd = connect_service();

		put(fd, garbage[i].bytes, garbage[i].len);
		shutdown(fd, SHUT_WR);
		printf("%s: %s\n", ends(fd) ? "closed" : "STILL OPEN", garbage[i].name);
		close(fd);
	}
}

static void long_mode(void)
{
	size_t len = 8u << 20;
	char *text = malloc(len);
	int fd = connect_service();

	memset(text, 'x', len);
	printf("%s\n", put(fd, text, len) < len || ends(fd) ? "closed" : "STILL OPEN");
	free(text);
	close(fd);
}

static void half_mode(void)
{
	static const char half[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ask\",\"par";

	for (int i = 0; i < 50; i++) {
		int fd = connect_service();

		put(fd, half, (size_t)i % sizeof(half));
		close(fd);
	}
	puts("left");
}

static void slow_mode(void)
{
	int fd = connect_service();
	size_t total = 0;

	for (int id = 1; id <= 2000000; id++) {
		char request[128];
		int len = snprintf(request, sizeof(request),
				   "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"status\"}\n", id);

		if (put(fd, request, (size_t)len) < (size_t)len) {
			puts("no more is taken");
			fflush(stdout);
			sleep(HOLD_S);
			return;
		}
		total += (size_t)len;
	}
	printf("%zu bytes TAKEN WITHOUT END\n", total);
}

static void many_mode(int count, int hold_s)
{
	int *fds = calloc((size_t)count, sizeof(*fds));
	int refused = 0;

	for (int i = 0; i < count; i++)
		fds[i] = connect_service();
	for (int i = 0; i < count; i++) {
		struct pollfd readable = {.fd = fds[i], .events = POLLIN};

		/* Only who is refused is told something. */
		refused += poll(&readable, 1, i == 0 ? 2000 : 10) == 1;
	}
	printf("%d let in, %d refused\n", count - refused, refused);
	fflush(stdout);
	sleep((unsigned)hold_s);
	free(fds);
}

static void asks_mode(int count)
{
	int fd = connect_service();
	FILE *stream = fdopen(dup(fd), "r");
	int completed = 0, limit = 0, other = 0;

	for (int id = 1; id <= count; id++) {
		char request[256];

		put(fd, request, (size_t)snprintf(request, sizeof(request), ASK, id));
	}
	for (int i = 0; i < count; i++) {
		const char *answer = line(stream);

		if (answer != NULL && strstr(answer, "\"status\":\"completed\"") != NULL)
			completed++;
		else if (answer != NULL && strstr(answer, "tasks of this user are running") != NULL)
			limit++;
		else {
			other++;
			fprintf(stderr, "%.1000s\n", answer == NULL ? "nothing" : answer);
		}
	}
	printf("%d completed, %d over the limit, %d otherwise\n", completed, limit, other);
	fclose(stream);
}

static void leave_mode(int count)
{
	for (int i = 1; i <= count; i++) {
		char request[256];
		int fd = connect_service();

		put(fd, request, (size_t)snprintf(request, sizeof(request), ASK, i));
		usleep((useconds_t)(i % 10) * 1000);
		close(fd);
	}
	puts("left");
}

static void say_mode(const char *text)
{
	int fd = connect_service();
	FILE *stream = fdopen(dup(fd), "r");
	const char *answer;

	put(fd, text, strlen(text));
	put(fd, "\n", 1);
	answer = line(stream);
	puts(answer == NULL ? "nothing" : answer);
	fclose(stream);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";
	const char *rest = argc > 3 ? argv[3] : "";

	signal(SIGPIPE, SIG_IGN);
	socket_path = argc > 1 ? argv[1] : "";
	if (strcmp(mode, "garbage") == 0)
		garbage_mode();
	else if (strcmp(mode, "long") == 0)
		long_mode();
	else if (strcmp(mode, "half") == 0)
		half_mode();
	else if (strcmp(mode, "slow") == 0)
		slow_mode();
	else if (strcmp(mode, "many") == 0)
		many_mode(atoi(rest), argc > 4 ? atoi(argv[4]) : HOLD_S);
	else if (strcmp(mode, "asks") == 0)
		asks_mode(atoi(rest));
	else if (strcmp(mode, "leave") == 0)
		leave_mode(atoi(rest));
	else if (strcmp(mode, "say") == 0)
		say_mode(rest);
	else
		return 2;
	return 0;
}
