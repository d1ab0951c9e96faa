internal import CLinuxEvents
internal import Glibc

/// Something that lives on an event loop. Each call comes on the loop's thread.
protocol LoopMember: AnyObject, Sendable {
    /// Somebody asked for it by `EventLoop.wake`.
    func woken(_ core: LoopCore)
    /// One of its sockets, the one that `watch` gave this token for, is readable, writable or broken.
    func socketReady(_ token: UInt64, _ mask: UInt32, _ core: LoopCore)
    /// The time it gave as `nextDeadline` has come.
    func deadlineReached(_ core: LoopCore)
    /// The loop ends: finish at once.
    func loopEnds(_ core: LoopCore)
    /// When to call `deadlineReached`; read after each of the calls above.
    var nextDeadline: ContinuousClock.Instant? { get }
}

/// What an event loop's thread owns. Made and used on that thread only.
@safe
final class LoopCore {
    private let loop: EventLoop
    /// Members with a socket, by the token epoll gives back. Tokens are never used twice, so an event that was fetched before
    /// a socket was closed cannot reach the next owner of its number.
    private var members: [UInt64: any LoopMember] = [:]
    private var nextToken: UInt64 = 1
    private var joined: [ObjectIdentifier: any LoopMember] = [:]
    private var posts: [any LoopMember] = []
    /// No member's deadline is earlier; it may be stale on the early side.
    private var earliest: ContinuousClock.Instant?
    private static let maxEvents = 64
    private let events: UnsafeMutablePointer<epoll_event>

    /// The time of this turn.
    private(set) var now = ContinuousClock.now
    /// What one read from a socket gives; used by whoever is called, for the length of the call.
    let cipherScratch = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: HTTP2Limits.readChunkBytes)
    /// What one decryption gives: a TLS record at most.
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

    /// Watches a socket for its member; the token stands for both.
    ///
    /// - Throws: `system`.
    func watch(_ socket: Int32, _ member: any LoopMember, mask: UInt32) throws(HTTP2Error) -> UInt64 {
        let token = nextToken
        nextToken += 1
        try loop.poll.add(socket, token: token, mask: mask)
        members[token] = member
        return token
    }

    /// Watches for other events.
    ///
    /// - Throws: `system`.
    func change(_ socket: Int32, token: UInt64, mask: UInt32) throws(HTTP2Error) {
        try loop.poll.change(socket, token: token, mask: mask)
    }

    /// Forgets a socket; closing it takes it out of epoll.
    func forget(_ token: UInt64) { members[token] = nil }

    /// Forgets a member that is done for good.
    func leave(_ member: any LoopMember) { joined[ObjectIdentifier(member)] = nil }

    // MARK: One turn

    /// True when the loop is to end.
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
        // Negative: a signal came; the next turn waits again.
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

    /// In milliseconds, rounded up, so that a deadline is over when it is served; a minute at most.
    private var timeout: Int32 {
        if loop.hasPosts { return 0 }
        guard let earliest else { return -1 }
        let left = ContinuousClock.now.duration(to: earliest).components
        if left.seconds < 0 || left.attoseconds < 0 { return 0 }
        return Int32(min(60_000, left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000 + 1))
    }
}
