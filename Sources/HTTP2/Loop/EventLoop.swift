internal import CLinuxEvents
internal import Glibc
internal import NIOConcurrencyHelpers

/// One thread with epoll, for the sockets and deadlines of connections, with a mailbox to wake them.
///
/// The owner of the connections creates a few per process and ends each by `shutdown`, which aborts the connections on it; without `shutdown` the thread keeps
/// running. Everything of a connection runs on its loop's thread, including the calls to the observer: nothing there may block.
package final class EventLoop: Sendable {
    private struct Mailbox: Sendable {
        var posts: [any LoopMember] = []
        /// Whether the eventfd was written since the loop last took the posts.
        var isSignalled = false
        var isEnding = false
        var hasEnded = false
        /// The loop's own thread, which need not be woken.
        var thread: pthread_t?
    }

    private let mailbox = NIOLockedValueBox(Mailbox())
    private let thread = NIOLockedValueBox<SystemThread?>(nil)
    private let signal: Int32
    let poll: Poll

    /// Starts the thread.
    ///
    /// - Parameter name: shown by the system's tools; cut at 15 bytes.
    /// - Throws: `system` if no descriptor or thread is available.
    package init(name: String = "http2") throws(HTTP2Error) {
        poll = try Poll()
        signal = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
        guard signal >= 0 else { throw .system("eventfd") }
        try poll.add(signal, token: 0, mask: EPOLLIN.rawValue)
        // The thread retains the loop, so the descriptors stay valid until it ends.
        let thread = try SystemThread(name: name) { LoopCore(loop: self).run() }
        self.thread.withLockedValue { $0 = thread }
    }

    deinit { if signal >= 0 { close(signal) } }

    /// Ends the thread and all its members, and waits until that is done. If it is called on the loop's own thread, it does not wait.
    package func shutdown() {
        mailbox.withLockedValue { $0.isEnding = true }
        wakeThread()
        let thread = thread.withLockedValue { thread in
            defer { thread = nil }
            return thread
        }
        thread?.join()
    }

    // MARK: For members

    /// Schedules a call of the member's `woken` on the loop. Returns false if the loop has ended; then `woken` is never called. Callers: any thread.
    func wake(_ member: any LoopMember) -> Bool {
        let caller = pthread_self()
        let (isAlive, mustWake) = mailbox.withLockedValue { box in
            guard !box.hasEnded else { return (false, false) }
            box.posts.append(member)
            guard !box.isSignalled, box.thread != caller else { return (true, false) }
            box.isSignalled = true
            return (true, true)
        }
        if mustWake { wakeThread() }
        return isAlive
    }

    private func wakeThread() {
        var one: UInt64 = 1
        // The write can fail only if the counter is full, and then the loop is about to wake anyway.
        _ = unsafe write(signal, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: For the core

    var hasPosts: Bool { mailbox.withLockedValue { !$0.posts.isEmpty || $0.isEnding } }

    func threadStarted() { mailbox.withLockedValue { $0.thread = pthread_self() } }

    /// Swaps the posts for an empty array and returns whether the loop must end.
    func takePosts(_ posts: inout [any LoopMember]) -> Bool {
        mailbox.withLockedValue { box in
            swap(&box.posts, &posts)
            box.isSignalled = false
            return box.isEnding
        }
    }

    /// Stops accepting posts, and returns those that arrived in the meantime.
    func threadEnds() -> [any LoopMember] {
        mailbox.withLockedValue { box in
            box.hasEnded = true
            defer { box.posts = [] }
            return box.posts
        }
    }

    func silenceSignal() {
        var count: UInt64 = 0
        _ = unsafe read(signal, &count, MemoryLayout<UInt64>.size)
    }
}

/// The epoll descriptor.
final class Poll: Sendable {
    let descriptor: Int32

    init() throws(HTTP2Error) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw .system("epoll_create1") }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func add(_ socket: Int32, token: UInt64, mask: UInt32) throws(HTTP2Error) {
        try control(EPOLL_CTL_ADD, socket, token, mask)
    }

    func change(_ socket: Int32, token: UInt64, mask: UInt32) throws(HTTP2Error) {
        try control(EPOLL_CTL_MOD, socket, token, mask)
    }

    private func control(_ operation: Int32, _ socket: Int32, _ token: UInt64, _ mask: UInt32) throws(HTTP2Error) {
        var event = unsafe epoll_event()
        unsafe event.events = mask
        unsafe event.data.u64 = token
        guard unsafe epoll_ctl(descriptor, operation, socket, &event) == 0 else { throw .system("epoll_ctl") }
    }
}
