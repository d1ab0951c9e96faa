internal import CLinuxEvents
internal import Glibc

/// A thread of the system's own, for work that blocks or loops: never the cooperative pool's.
struct SystemThread: Sendable {
    private let id: pthread_t

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: shown by the system's tools; the kernel cuts it at 15 bytes.
    ///   - body: what it runs; it ends with it.
    /// - Throws: `system` if there is no thread left.
    init(name: String, _ body: @escaping @Sendable () -> Void) throws(HTTP2Error) {
        // Released by `threadMain`, or below if there will be no thread.
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var id = pthread_t()
        let result = unsafe pthread_create(&id, nil, threadMain, box.toOpaque())
        guard result == 0 else {
            unsafe box.release()
            throw .system("pthread_create", result)
        }
        self.id = id
    }

    /// Waits for its end. Call this or `detach`, once. The thread itself cannot wait for that: there it is `detach`.
    func join() {
        guard pthread_equal(id, pthread_self()) == 0 else { return detach() }
        _ = pthread_join(id, nil)
    }

    /// Lets it end by itself.
    func detach() { _ = pthread_detach(id) }
}

private final class ThreadBody: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(name: String, run body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run() {
        _ = unsafe gateway_set_thread_name(name)
        body()
    }
}

private func threadMain(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let box = unsafe box else { return nil }
    unsafe Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().run()
    return nil
}

extension HTTP2Error {
    /// What the operating system said about a call.
    static func system(_ call: String, _ number: Int32 = errno, _ code: Code = .system) -> HTTP2Error {
        HTTP2Error(code, isUnsent: true, underlying: "\(call): \(unsafe String(cString: strerror(number)))")
    }
}
