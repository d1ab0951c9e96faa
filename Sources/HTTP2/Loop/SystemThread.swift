internal import CLinuxEvents
internal import Glibc

/// A separate operating-system thread for work that blocks or loops, instead of a thread of the cooperative pool.
struct SystemThread: Sendable {
    private let id: pthread_t

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: shown by the system's tools; the kernel cuts it at 15 bytes.
    ///   - body: the code to run; the thread ends when it returns.
    /// - Throws: `system` if no thread can be created.
    init(name: String, _ body: @escaping @Sendable () -> Void) throws(HTTP2Error) {
        // Released by `threadMain`, or below if no thread was created.
        let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, run: body))
        var id = pthread_t()
        let result = unsafe pthread_create(&id, nil, threadMain, box.toOpaque())
        guard result == 0 else {
            unsafe box.release()
            throw .system("pthread_create", result)
        }
        self.id = id
    }

    /// Waits until the thread ends. Call this or `detach`, once. The thread cannot wait for itself; a call from it detaches instead.
    func join() {
        guard pthread_equal(id, pthread_self()) == 0 else { return detach() }
        _ = pthread_join(id, nil)
    }

    /// Detaches the thread, which then frees itself when it ends.
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
    /// An error from the failed operating-system call and its error number.
    static func system(_ call: String, _ number: Int32 = errno, _ code: Code = .system) -> HTTP2Error {
        HTTP2Error(code, isUnsent: true, underlying: "\(call): \(unsafe String(cString: strerror(number)))")
    }
}
