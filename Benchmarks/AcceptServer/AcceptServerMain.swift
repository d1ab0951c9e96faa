import CLinuxEvents
import Glibc

/// A fast accept-only APNs server for load tests: one thread, TLS 1.3, HTTP/2, 200 for every request.
///
/// It tests only the speed of a client: it checks nothing in a request except what HTTP/2 needs. On SIGTERM or SIGINT it prints its counts as one line of JSON,
/// and exits.
@main
enum AcceptServerMain {
    static func main() {
        do {
            guard let options = try ServerOptions(CommandLine.arguments.dropFirst()) else {
                print(ServerOptions.help)
                exit(0)
            }
            let tls = try ServerTLS(certificateFile: options.certificateFile, keyFile: options.keyFile)
            let loop = try ServerLoop(options, tls, stop: stopSignals())
            print(#"{"port":\#(loop.port)}"#)
            fflush(nil)
            try loop.run()
            print(loop.counts.json)
        } catch {
            let words = Array("apns-accept-server: \(error)\n".utf8)
            _ = unsafe write(2, words, words.count)
            exit(2)
        }
    }

    /// Converts SIGTERM and SIGINT into an event for epoll.
    private static func stopSignals() throws(ServerError) -> Int32 {
        guard stopEvent >= 0 else { throw .system("eventfd") }
        for number in [SIGTERM, SIGINT] {
            _ = signal(number) { _ in _ = eventfd_write(stopEvent, 1) }
        }
        _ = signal(SIGPIPE, SIG_IGN)
        // Unblock the signals: a parent that starts this process on a worker thread has blocked them, and the process inherits that.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        return stopEvent
    }
}

/// A global variable, because a signal handler cannot capture anything.
private let stopEvent = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
