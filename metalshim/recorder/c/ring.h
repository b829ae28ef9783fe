// The ring that a recorded program writes to and introgen reads: a file in
// shared memory, one for each process, of 64-byte slots. ring.go has the same
// layout in Go.
//
// INTROGEN_RECORD is "VERSION:FOLDER". A process makes FOLDER/PID.ring when it
// has its first event; after a fork the child makes one of its own. Where
// PID.ring is there already (exec, a number that is used again), PID-2.ring and
// so on.
//
// A writer reserves consecutive slots by moving head (never beyond tail +
// capacity: then the event is lost and counted), fills them, and publishes each
// by storing its number (the slot's index since the beginning, plus one) in
// its first word, with release: those of a text first, with the highest bit
// set, and the event's own last. The reader takes published slots in order and
// moves tail. A writer that was killed leaves slots unpublished: when the
// process is gone the reader goes past them.

#define RECORDER_VERSION 1
#define RING_MAGIC 0x31474e5254494e49ull // "INITRNG1" in memory
#define RING_SLOTS (1u << 20)            // at most: 64 MiB, of which a file has what was written
#define FEWEST_SLOTS (1u << 12)          // where the disk is nearly full; without room for these nothing is recorded

struct ring {
	_Alignas(4096) u64 magic;
	u64 version, capacity; // capacity: slots, a power of two
	u64 pid, parent;
	u64 began;             // ns on the clock of the events when the ring was made
	u64 monotonic;         // CLOCK_MONOTONIC in ns at that moment
	_Alignas(64) u64 head; // slots reserved since the beginning
	_Alignas(64) u64 tail; // slots that the reader has done with
	_Alignas(64) u64 lost; // events that found the ring full
	u64 cost;              // what one event cost here, in picoseconds, measured when the ring was made
	_Alignas(4096) struct slot { u64 words[8]; } slots[];
};

// The first slot of an event. Texts follow in more slots, 56 bytes each behind
// their first word; length says how many bytes.
struct event {
	u64 number;  // published: index + 1
	u64 time;    // ns: CLOCK_MONOTONIC on Linux, CLOCK_UPTIME_RAW on a Mac
	u32 thread;  // from 0 in the order of their first events
	u16 kind;    // enum kind
	u16 length;  // bytes of text in the slots that follow; longer texts are cut
	u64 object;
	u64 a, b, c, d;
};

enum kind {
	PROCESS = 1,      // a parent's pid, b 1 after a fork without exec; text: the program's path
	DEVICE,           // object device (0: there is none), a registryID, d when it was asked for; text: its name
	LIBRARY_BEGIN,    // object number of the call, a device, b enum library_form, c source bytes, d flags: 1 with a completion handler, 2 a nonce was added; text: SHA-256 of the source in hex without the nonce, blank, the options ("math=fast version=2.4 macros=3"); of a URL or path itself
	LIBRARY_END,      // object number of the call, a library (0: failed), b functions in it, c 1 hit, 2 miss, 3 off, 0 unknown; text: the label, or the error
	CONSTANT,         // object MTLFunctionConstantValues, a MTLDataType (0: it has no constants any more), b index, c bits; text: name, where by name
	FUNCTION,         // object function (0: failed), a library, b MTLFunctionConstantValues or 0; text: name
	PIPELINE_BEGIN,   // object number of the call, a function, b enum pipeline_form, c options, d flags: 1 with a completion handler, 2 with archives, 4 with reflection; text: label
	PIPELINE_END,     // object number of the call, a pipeline (0: failed), b maxTotalThreadsPerThreadgroup, c 1 hit, 2 miss, 3 off, 0 unknown, d threadExecutionWidth; text: the error
	ARCHIVE_BEGIN,    // object number of the call, a archive, b enum archive_form, c function; text: path
	ARCHIVE_END,      // object number of the call, a archive (0: failed); text: the error
	BUFFER,           // object buffer (0: failed), a bytes, b MTLResourceOptions, c enum buffer_form, d begin
	HEAP,             // object heap (0: failed), a bytes, d begin
	QUEUE,            // object queue, a device, b most command buffers (0: default)
	COMMANDS,         // object command buffer, a queue (0: MTL4's have none yet), b 1 unretained references, d begin of the call, which waits where the queue is full (0: unknown); of MTL4's no completion is told
	ENQUEUE,          // object command buffer
	COMMIT,           // object command buffer, a begin; told when it has returned, maybe after COMPLETED
	SCHEDULED,        // object command buffer, a kernelStartTime, b kernelEndTime in ns on the clock of the events; told with COMPLETED
	COMPLETED,        // object command buffer, a GPUStartTime, b GPUEndTime in ns on the clock of the events (0: none), c MTLCommandBufferStatus; text: the error
	ENCODER,          // object encoder, a command buffer, b enum encoder_form
	ENCODER_END,      // object encoder, a begin of the call
	SET_PIPELINE,     // object encoder, a pipeline
	DISPATCH,         // object encoder, a grid x | y << 32, b grid z | group x << 32, c group y | z << 32, d enum dispatch_form; INDIRECT has no grid, and of an indirect command buffer the number of its commands as x
	BARRIER,          // object encoder, a scope, number of resources or stages that are waited for, b enum barrier_form
	FENCE,            // object encoder, a fence, b 1 update, 2 wait
	EVENT,            // object command buffer, or queue of MTL4's, a event, b value, c 1 signal, 2 wait
	BLIT,             // object encoder, a enum blit_form, b bytes
	WAIT_BEGIN,       // object what is waited for, a enum wait_form, b value
	WAIT_END,         // object what is waited for, a enum wait_form, b begin, c 0 when it gave up
	HANDLER,          // object command buffer or event, a 1 scheduled, 2 completed, 3 signaled with b the value: the program wants to be told
	LABEL,            // object any of the above; text
	MARK,             // text: the phase that begins
	MISSED,           // text: a selector that should have been there to record; once each
};

enum library_form { FROM_SOURCE = 1, FROM_DATA, FROM_URL, FROM_DEFAULT, FROM_FILE, FROM_STITCHED, FROM_MTL4 };
enum pipeline_form { BY_FUNCTION = 1, BY_DESCRIPTOR, BY_MTL4, BY_RENDER };
enum archive_form { ARCHIVE_MADE = 1, ARCHIVE_OPENED, ARCHIVE_ADD, ARCHIVE_WRITE };
enum buffer_form { BY_LENGTH = 1, BY_BYTES, NO_COPY, FROM_HEAP };
enum encoder_form { COMPUTE_SERIAL = 1, COMPUTE_CONCURRENT, BLITS, RENDER, OTHER_ENCODER };
enum dispatch_form { THREADS = 1, THREADGROUPS, INDIRECT };
enum barrier_form { BY_SCOPE = 1, BY_RESOURCES, BY_STAGES };
enum blit_form { COPY = 1, FILL, SYNCHRONIZE, OTHER_BLIT };
enum wait_form { COMPLETION = 1, SCHEDULING, SHARED_EVENT, SEMAPHORE }; // SEMAPHORE: of libdispatch, or a group
