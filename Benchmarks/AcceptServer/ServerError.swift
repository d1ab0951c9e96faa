import Glibc

/// Why the server, or one connection of it, ends.
enum ServerError: Error, CustomStringConvertible {
    /// The command line is wrong.
    case usage(String)
    /// A system call failed; the text is the call and its reason.
    case failed(String)
    /// The peer broke TLS or HTTP/2, or has gone.
    case connection(String)

    /// A failed call of the operating system.
    static func system(_ call: String) -> ServerError {
        .failed("\(call): \(unsafe String(cString: strerror(errno)))")
    }

    var description: String {
        switch self {
        case .usage(let text), .failed(let text), .connection(let text): text
        }
    }
}
