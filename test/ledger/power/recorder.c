/* Library that is preloaded into a service. Records, in order, the service's writes to its accounts file, the syncs that the disk has
   confirmed, and the answers that it sends. While the file POWER_HANG exists, syncs wait. Each record is a header of 16 bytes followed by its bytes; see recording.ts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITTEN = 1, CUT = 2, SYNC_BEGINS = 3, SYNC_ENDS = 4, ANSWERED = 5 };
enum { DATABASE = 0, WAL = 1, FOLDER = 2, SOCKET = 3, OTHER = 4 };

struct header { uint8_t kind, file; uint16_t unused; uint32_t length; uint64_t offset; };

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int out = -1;

static void record(int kind, int file, uint64_t offset, const void *bytes, uint32_t length) {
  struct header header = {(uint8_t)kind, (uint8_t)file, 0, length, offset};
  pthread_mutex_lock(&order);
  if (out < 0) out = open(getenv("POWER_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)bytes, length}};
  if (syscall(SYS_writev, out, parts, length > 0 ? 2 : 1) != (long)(sizeof header + length)) abort();
  pthread_mutex_unlock(&order);
}

static int file_of(int descriptor) {
  const char *path = getenv("POWER_FILE");
  char link[64], name[4096];
  if (path == NULL) return OTHER;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return OTHER;
  name[length] = 0;
  if (strncmp(name, "socket:", 7) == 0) return SOCKET;
  size_t path_length = strlen(path);
  if (strncmp(name, path, path_length) == 0) {
    if (name[path_length] == 0) return DATABASE;
    return strcmp(name + path_length, "-wal") == 0 ? WAL : OTHER;
  }
  size_t folder = (size_t)(strrchr(path, '/') - path);
  return (size_t)length == folder && strncmp(name, path, folder) == 0 ? FOLDER : OTHER;
}

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void record_answer(int descriptor, const void *bytes, size_t length) {
  if (length > 12 && memcmp(bytes, "HTTP/1.1 200", 12) == 0 && file_of(descriptor) == SOCKET)
    record(ANSWERED, SOCKET, now_ms(), bytes, length > 1024 ? 1024 : (uint32_t)length);
}

static ssize_t write_at(const char *name, int descriptor, const void *bytes, size_t length, off_t offset) {
  int file = file_of(descriptor);
  if (file == DATABASE || file == WAL) record(WRITTEN, file, (uint64_t)offset, bytes, (uint32_t)length);
  return ((ssize_t(*)(int, const void *, size_t, off_t))real(name))(descriptor, bytes, length, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  return write_at("pwrite", descriptor, bytes, length, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t offset) {
  return write_at("pwrite64", descriptor, bytes, length, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  int file = length > 12 ? file_of(descriptor) : OTHER;
  if (file == DATABASE || file == WAL)
    record(WRITTEN, file, (uint64_t)lseek(descriptor, 0, SEEK_CUR), bytes, (uint32_t)length);
  record_answer(descriptor, bytes, length);
  return ((ssize_t(*)(int, const void *, size_t))real("write"))(descriptor, bytes, length);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  if (count > 0) record_answer(descriptor, parts[0].iov_base, parts[0].iov_len);
  return ((ssize_t(*)(int, const struct iovec *, int))real("writev"))(descriptor, parts, count);
}

static int truncate_file(const char *name, int descriptor, off_t length) {
  int file = file_of(descriptor);
  if (file == DATABASE || file == WAL) record(CUT, file, (uint64_t)length, NULL, 0);
  return ((int (*)(int, off_t))real(name))(descriptor, length);
}

int ftruncate(int descriptor, off_t length) { return truncate_file("ftruncate", descriptor, length); }
int ftruncate64(int descriptor, off_t length) { return truncate_file("ftruncate64", descriptor, length); }

static int sync_file(const char *name, int descriptor) {
  int file = file_of(descriptor);
  int is_ours = file == DATABASE || file == WAL || file == FOLDER;
  const char *hang = getenv("POWER_HANG");
  while (is_ours && hang != NULL && access(hang, F_OK) == 0) usleep(10000);
  if (is_ours) record(SYNC_BEGINS, file, 0, NULL, 0);
  int result = ((int (*)(int))real(name))(descriptor);
  if (is_ours && result == 0) record(SYNC_ENDS, file, 0, NULL, 0);
  return result;
}

int fsync(int descriptor) { return sync_file("fsync", descriptor); }
int fdatasync(int descriptor) { return sync_file("fdatasync", descriptor); }
