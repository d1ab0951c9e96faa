/// The load, from the command line: `--name value` pairs, each with a default.
struct LoadOptions: Sendable {
    /// The interface that is measured.
    enum Client: String {
        /// The APNs core with batches: typed payloads in, typed outcomes out.
        case core
        /// The APNs core with batches, fed from a list of all pushes in memory.
        case queue
        /// The HTTP/2 client alone, on its loop, with prepared bytes.
        case http2
        /// None: prints the first device tokens, for programs that need them in advance.
        case tokens
    }

    var client = Client.core
    /// The host of the server.
    var host = "localhost"
    /// The port of the server.
    var port = 2197
    /// A PEM file with the server's CA.
    var trustRootsFile = ""
    /// A .p8 file with the provider key that signs. Any P-256 key is suitable.
    var providerKeyFile = ""
    /// The `authorization` field of the client that does not sign.
    var authorization = "bearer none"
    /// The number of connections.
    var connectionCount = 1
    /// The total number of requests.
    var requestCount = 200_000
    /// The number of different device tokens; 0 gives every push its own.
    var tokenCount = 0
    /// The payload size; 197 is a short alert.
    var bodyBytes = 197
    /// The client's limit of streams per connection; the server has its own.
    var streamLimit = 1_000

    /// An unknown option, or an invalid value.
    struct Invalid: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the arguments.
    ///
    /// - Throws: `Invalid`.
    init(_ arguments: some Collection<String>) throws {
        var rest = Array(arguments)
        while !rest.isEmpty {
            let name = rest.removeFirst()
            guard !rest.isEmpty else { throw Invalid(description: "\(name) needs a value") }
            try set(name, rest.removeFirst())
        }
    }

    private mutating func set(_ name: String, _ value: String) throws {
        switch name {
        case "--client":
            guard let client = Client(rawValue: value) else { throw Invalid(description: "unknown client: \(value)") }
            self.client = client
        case "--host": host = value
        case "--port": port = try LoadOptions.number(name, value, 1...65_535)
        case "--trust-roots": trustRootsFile = value
        case "--provider-key": providerKeyFile = value
        case "--authorization": authorization = value
        case "--connections": connectionCount = try LoadOptions.number(name, value, 1...64)
        case "--requests": requestCount = try LoadOptions.number(name, value, 1...100_000_000)
        case "--tokens": tokenCount = try LoadOptions.number(name, value, 0...100_000_000)
        case "--body-bytes": bodyBytes = try LoadOptions.number(name, value, 64...4_096)
        case "--streams": streamLimit = try LoadOptions.number(name, value, 1...65_536)
        default: throw Invalid(description: "unknown option \(name)")
        }
    }

    private static func number(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw Invalid(description: "\(name) must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
