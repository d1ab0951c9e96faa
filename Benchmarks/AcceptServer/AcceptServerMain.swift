import CLinuxEvents
import Glibc

/// A fast accept-only APNs server for load tests: one thread, TLS 1.3, HTTP/2, 200 for every request.
///
/// It proves nothing about a client but its speed: nothing of a request is checked beyond what HTTP/2 needs. On SIGTERM or SIGINT it prints
/// what it counted, as one line of JSON, and ends.
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

    /// Turns SIGTERM and SIGINT into something epoll sees.
    private static func stopSignals() throws(ServerError) -> Int32 {
        guard stopEvent >= 0 else { throw .system("eventfd") }
        for number in [SIGTERM, SIGINT] {
            _ = signal(number) { _ in _ = eventfd_write(stopEvent, 1) }
        }
        _ = signal(SIGPIPE, SIG_IGN)
        // A parent that started us on a worker thread has blocked them, and we have inherited that.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        return stopEvent
    }
}

/// Global, because a signal handler captures nothing.
private let stopEvent = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
