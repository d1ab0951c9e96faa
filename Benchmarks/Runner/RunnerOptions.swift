/// The measurements to run, from the command line.
struct RunnerOptions {
    /// Servers to measure against.
    var servers = ServerKind.allCases
    /// Clients to measure, in addition to h2load.
    var clients = ClientKind.measured
    var connectionCounts = [1, 2, 4]
    /// The delay of each answer at the server, in milliseconds.
    var latencies = [0, 50]
    /// How often every client is run.
    var pairCount = 5
    /// Requests per run; nil for a number that suits server and latency.
    var requestCount: Int?
    /// SETTINGS_MAX_CONCURRENT_STREAMS of the servers, and the limit of the clients.
    var streamLimit = 1_000
    var bodyBytes = 197
    var serverCore = 0
    var clientCore = 1
    var printsJSON = false
    /// One million pushes through one connection, for their peak memory.
    var measuresMemory = false
    /// The folder of the built programs.
    var programs = ""

    static let help = """
        usage: scripts/bench apns [options]     clients against servers: table of medians
               scripts/bench memory [options]   peak memory of 1,000,000 queued pushes
               scripts/bench micro [options]    instruction counts (see scripts/bench micro --help)

          --quick              2 pairs, one connection, fewer requests; for a first impression only
          --pairs N            how often each client is run (5)
          --requests N         per run (200000 without latency against the fast server, fewer elsewhere)
          --client NAME,…      h2load always runs; core, http2, aioapns
          --server NAME,…      accept, simulator, nghttpd
          --connections N,…    1,2,4
          --latency-ms N,…     0,50; nghttpd has none and runs only with 0
          --streams N          the servers' stream limit (1000)
          --body-bytes N       payload (197)
          --server-core N, --client-core N   the cores they are pinned to (0, 1)
          --json               one JSON object per row instead of the table
          --skip-build         use the programs that are already built
        Progress goes to standard error. How to read the table: Benchmarks/README.md
        """

    /// Reads the arguments; nil if help was requested.
    ///
    /// - Throws: `BenchFailure`.
    init?(_ arguments: some Collection<String>) throws {
        var rest = Array(arguments)
        if rest.contains("--help") || rest.contains("-h") { return nil }
        while !rest.isEmpty {
            let name = rest.removeFirst()
            if setFlag(name) { continue }
            guard !rest.isEmpty else { throw BenchFailure("\(name) is unknown or needs a value (--help)") }
            try set(name, rest.removeFirst())
        }
    }

    private mutating func setFlag(_ name: String) -> Bool {
        switch name {
        case "--json": printsJSON = true
        case "--memory": measuresMemory = true
        case "--quick":
            pairCount = 2
            connectionCounts = [1]
            requestCount = requestCount ?? 40_000
        default: return false
        }
        return true
    }

    private mutating func set(_ name: String, _ value: String) throws {
        switch name {
        case "--pairs": pairCount = try RunnerOptions.number(name, value, 1...1_000)
        case "--requests": requestCount = try RunnerOptions.number(name, value, 1...100_000_000)
        case "--client": clients = try RunnerOptions.list(name, value) { ClientKind(rawValue: $0) }
        case "--server": servers = try RunnerOptions.list(name, value) { ServerKind(rawValue: $0) }
        case "--connections": connectionCounts = try RunnerOptions.numbers(name, value, 1...64)
        case "--latency-ms": latencies = try RunnerOptions.numbers(name, value, 0...60_000)
        case "--streams": streamLimit = try RunnerOptions.number(name, value, 1...4_096)
        case "--body-bytes": bodyBytes = try RunnerOptions.number(name, value, 128...4_096)
        case "--server-core": serverCore = try RunnerOptions.number(name, value, 0...1_023)
        case "--client-core": clientCore = try RunnerOptions.number(name, value, 0...1_023)
        case "--programs": programs = value
        default: throw BenchFailure("unknown option \(name) (--help)")
        }
    }

    private static func numbers(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws -> [Int] {
        try value.split(separator: ",").map { try number(name, String($0), range) }
    }

    private static func number(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw BenchFailure("\(name) must be \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func list<Value>(_ name: String, _ value: String, _ read: (String) -> Value?) throws -> [Value] {
        try value.split(separator: ",").map {
            guard let value = read(String($0)) else { throw BenchFailure("\(name): unknown value \($0)") }
            return value
        }
    }
}
