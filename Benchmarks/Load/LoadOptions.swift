/// What the load is, from the command line: `--name value` pairs, each with a default.
struct LoadOptions: Sendable {
    /// Where the server listens.
    var host = "localhost"
    /// Where the server listens.
    var port = 2197
    /// A PEM file with the server's authority.
    var trustRootsFile = ""
    /// How many connections, all on one loop and so on one core.
    var connectionCount = 1
    /// How many requests in all.
    var requestCount = 200_000
    /// How many of them are sent before the measurement begins.
    var warmUpCount = 20_000
    /// `fixed`: one path and no field of its own per request, as h2load sends. `distinct`: a path and an apns-id of its own
    /// per request, as APNs sees.
    var isDistinct = true
    /// The path of a fixed load.
    var path = "/ok"
    /// Payload size; 197 is a short alert.
    var bodyBytes = 197
    /// Own cap on streams per connection.
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
        case "--host": host = value
        case "--port": port = try LoadOptions.number(name, value)
        case "--trust-roots": trustRootsFile = value
        case "--connections": connectionCount = try LoadOptions.number(name, value)
        case "--requests": requestCount = try LoadOptions.number(name, value)
        case "--warm-up": warmUpCount = try LoadOptions.number(name, value)
        case "--load": isDistinct = value == "distinct"
        case "--path": path = value
        case "--body-bytes": bodyBytes = try LoadOptions.number(name, value)
        case "--streams": streamLimit = try LoadOptions.number(name, value)
        default: throw Invalid(description: "unknown option \(name)")
        }
    }

    private static func number(_ name: String, _ value: String) throws -> Int {
        guard let number = Int(value), number > 0 else { throw Invalid(description: "\(name): not a number above 0") }
        return number
    }
}
