internal import CLinuxEvents
internal import Glibc

/// A member of an event loop. Each call is made on the loop's thread.
protocol LoopMember: AnyObject, Sendable {
    /// The member was woken by `EventLoop.wake`.
    func woken(_ core: LoopCore)
    /// One of the member's sockets is readable, writable or broken. `watch` returned this token for it.
    func socketReady(_ token: UInt64, _ mask: UInt32, _ core: LoopCore)
    /// The time of `nextDeadline` has come.
    func deadlineReached(_ core: LoopCore)
    /// The loop ends; finish at once.
    func loopEnds(_ core: LoopCore)
    /// When to call `deadlineReached`; read after each of the calls above.
    var nextDeadline: ContinuousClock.Instant? { get }
}

/// The state of an event loop's thread. Created and used on that thread only.
@safe
final class LoopCore {
    private let loop: EventLoop
    /// Members with a socket, by the token that epoll returns. Tokens are never reused, so an event that was fetched before a socket was closed cannot reach
    /// the next owner of its descriptor number.
    private var members: [UInt64: any LoopMember] = [:]
    private var nextToken: UInt64 = 1
    private var joined: [ObjectIdentifier: any LoopMember] = [:]
    private var posts: [any LoopMember] = []
    /// A lower bound of all members' deadlines; it may be earlier than the earliest of them.
    private var earliest: ContinuousClock.Instant?
    private static let maxEvents = 64
    private let events: UnsafeMutablePointer<epoll_event>

    /// The time of this turn.
    private(set) var now = ContinuousClock.now
    /// A buffer for one read from a socket. A member may use it during a call.
    let cipherScratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: HTTP2Limits.readChunkBytes)
    /// A buffer for one decryption: at most one TLS record.
    let plainScratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: HTTP2Limits.writeChunkBytes)

    init(loop: EventLoop) {
        self.loop = loop
        unsafe events = .allocate(capacity: LoopCore.maxEvents)
    }

    deinit {
        unsafe events.deallocate()
        unsafe cipherScratch.deallocate()
        unsafe plainScratch.deallocate()
    }

    func run() {
        loop.threadStarted()
        while !servePosts() {
            waitForSockets()
            serveDeadlines()
        }
        for member in loop.threadEnds() { joined[ObjectIdentifier(member)] = member }
        for member in joined.values { member.loopEnds(self) }
    }

    // MARK: For members

    /// Watches a socket for its member; the token identifies both.
    ///
    /// - Throws: `system`.
    func watch(_ socket: Int32, _ member: any LoopMember, mask: UInt32) throws(HTTP2Error) -> UInt64 {
        let token = nextToken
        nextToken += 1
        try loop.poll.add(socket, token: token, mask: mask)
        members[token] = member
        return token
    }

    /// Changes the events to watch for.
    ///
    /// - Throws: `system`.
    func change(_ socket: Int32, token: UInt64, mask: UInt32) throws(HTTP2Error) {
        try loop.poll.change(socket, token: token, mask: mask)
    }

    /// Removes a socket; closing it removes it from epoll.
    func forget(_ token: UInt64) { members[token] = nil }

    /// Removes a member that has finished.
    func leave(_ member: any LoopMember) { joined[ObjectIdentifier(member)] = nil }

    // MARK: One turn

    /// True if the loop must end.
    private func servePosts() -> Bool {
        let isEnding = loop.takePosts(&posts)
        for member in posts {
            joined[ObjectIdentifier(member)] = member
            member.woken(self)
            note(member)
        }
        posts.removeAll(keepingCapacity: true)
        return isEnding
    }

    private func waitForSockets() {
        let count = unsafe epoll_wait(loop.poll.descriptor, events, Int32(LoopCore.maxEvents), timeout)
        now = ContinuousClock.now
        // Negative if a signal arrived; the next turn waits again.
        for index in 0..<max(0, Int(count)) {
            let token = unsafe events[index].data.u64
            if token == 0 {
                loop.silenceSignal()
            } else if let member = members[token] {
                unsafe member.socketReady(token, events[index].events, self)
                note(member)
            }
        }
    }

    private func serveDeadlines() {
        guard let due = earliest, due <= now else { return }
        earliest = nil
        for member in joined.values {
            if let deadline = member.nextDeadline, deadline <= now { member.deadlineReached(self) }
            note(member)
        }
    }

    private func note(_ member: any LoopMember) {
        guard let deadline = member.nextDeadline else { return }
        earliest = earliest.map { min($0, deadline) } ?? deadline
    }

    /// In milliseconds, rounded up, so that a deadline has passed when it is served; at most one minute.
    private var timeout: Int32 {
        if loop.hasPosts { return 0 }
        guard let earliest else { return -1 }
        let left = ContinuousClock.now.duration(to: earliest).components
        if left.seconds < 0 || left.attoseconds < 0 { return 0 }
        return Int32(min(60_000, left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000 + 1))
    }
}
