/// The load, from the command line: `--name value` pairs, each with a default.
struct LoadOptions: Sendable {
    /// Which door of ours is measured.
    enum Client: String {
        /// The APNs core's batch door: typed payloads in, typed outcomes out.
        case core
        /// The batch door, fed from a list of all pushes that waits in memory.
        case queue
        /// The HTTP/2 client alone, on its loop, with ready bytes.
        case http2
        /// None: prints the first device tokens, for those who need to know them before.
        case tokens
    }

    var client = Client.core
    /// Where the server listens.
    var host = "localhost"
    /// Where the server listens.
    var port = 2197
    /// A PEM file with the server's authority.
    var trustRootsFile = ""
    /// A .p8 file: the provider key that signs. Any P-256 key will do.
    var providerKeyFile = ""
    /// The `authorization` field of the client that does not sign.
    var authorization = "bearer none"
    /// How many connections.
    var connectionCount = 1
    /// How many requests in all.
    var requestCount = 200_000
    /// How many different device tokens; 0 makes every one its own.
    var tokenCount = 0
    /// Payload size; 197 is a short alert.
    var bodyBytes = 197
    /// Streams per connection, own cap; the server has its own.
    var streamLimit = 1_000

    /// A word the program does not know, or a value it cannot read.
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
            guard let client = Client(rawValue: value) else { throw Invalid(description: "no such client: \(value)") }
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
            throw Invalid(description: "\(name) is \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
