/* A clock of its own for a hub under test: every process adds the seconds in the file HUB_TEST_CLOCK to the time of day.
   Durations (CLOCK_MONOTONIC) stay right, as when somebody sets the clock of a machine. It takes no lock, so that a
   process can be killed at any moment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long *offset;
static int (*system_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("HUB_TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    system_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) offset = mapped;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!system_gettime) system_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    int status = system_gettime(clock, now);
    if (!status && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
    return status;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise)) return -1;
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (now) *now = precise.tv_sec;
    return precise.tv_sec;
}
