/// The server's command line options: `--name value` pairs.
struct ServerOptions {
    /// The port on 127.0.0.1; 0 for any free port.
    var port: UInt16 = 0
    /// PEM: the server's certificate, then its issuers.
    var certificateFile = ""
    /// PEM: the certificate's private key.
    var keyFile = ""
    /// SETTINGS_MAX_CONCURRENT_STREAMS, 1...65536. The real service sends 1000 (pushy#878, observed).
    var streamLimit: UInt32 = 1_000
    /// The delay of each answer, in nanoseconds.
    var latency: UInt64 = 0

    static let help = """
        usage: apns-accept-server --certificate FILE --key FILE [--port N] [--max-streams N] [--latency-ms N]

        Answers 200 with the request's apns-id to everything, over TLS 1.3 and HTTP/2, on 127.0.0.1, from one thread.
        Prints {"port":N} when it listens, and its counts when it is stopped by SIGTERM.
        """

    /// Reads the arguments; nil if help was requested.
    ///
    /// - Throws: `ServerError.usage`.
    init?(_ arguments: some Collection<String>) throws(ServerError) {
        var rest = Array(arguments)
        if rest.contains("--help") { return nil }
        while !rest.isEmpty {
            let name = rest.removeFirst()
            guard !rest.isEmpty else { throw .usage("\(name) needs a value") }
            try set(name, rest.removeFirst())
        }
        guard !certificateFile.isEmpty, !keyFile.isEmpty else { throw .usage("--certificate and --key are required") }
    }

    private mutating func set(_ name: String, _ value: String) throws(ServerError) {
        switch name {
        case "--port": port = UInt16(try ServerOptions.number(name, value, 0...65_535))
        case "--certificate": certificateFile = value
        case "--key": keyFile = value
        case "--max-streams": streamLimit = UInt32(try ServerOptions.number(name, value, 1...65_536))
        case "--latency-ms": latency = UInt64(try ServerOptions.number(name, value, 0...60_000)) * 1_000_000
        default: throw .usage("unknown option \(name)")
        }
    }

    private static func number(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws(ServerError) -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw .usage("\(name) must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
