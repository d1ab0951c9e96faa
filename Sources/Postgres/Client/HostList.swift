import NIOConcurrencyHelpers

/// The servers that a connection string lists, which are tried one at a time.
///
/// libpq can try such a list by itself, but it continues only after a server that refuses: a server that has vanished from the network uses up all the
/// time. After the loss of a primary's machine, no client would reach its successor. Therefore each server is tried separately, with its share of the
/// time, and the server that answered last is tried first.
struct HostList: Sendable {
    typealias Parameters = [(keyword: String, value: String)]

    /// Parameters for each server, in the order of the string.
    let servers: [Parameters]
    private let name: String

    /// The server of each list that answered last. The key is the text of the list (hosts and ports, nothing secret). One entry per connection string.
    private static let answered = NIOLockedValueBox<[String: Int]>([:])

    /// - Parameter parameters: the parsed parameters. A string without a list, or with a list that only libpq understands, becomes one entry.
    init(_ parameters: Parameters) {
        func parts(_ keyword: String) -> [String] {
            guard let value = parameters.first(where: { $0.keyword == keyword })?.value else { return [] }
            return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, addresses, ports) = (parts("host"), parts("hostaddr"), parts("port"))
        let count = max(hosts.count, addresses.count)
        name = [hosts, addresses, ports].map { $0.joined(separator: ",") }.joined(separator: " ")
        // To prefer a standby, libpq needs the whole list. It also reports lists whose lengths do not match.
        let wants = parameters.first { $0.keyword == "target_session_attrs" }?.value
        let fits = [hosts, addresses, ports].allSatisfy { $0.count <= 1 || $0.count == count }
        guard count > 1, fits, wants != "prefer-standby" else {
            servers = [parameters]
            return
        }
        servers = (0..<count).map { index in
            parameters.map { keyword, value in
                let list =
                    switch keyword {
                    case "host": hosts
                    case "hostaddr": addresses
                    case "port": ports
                    default: [value]
                    }
                return (keyword, list.count > 1 ? list[index] : value)
            }
        }
    }

    /// Indexes into `servers`, beginning with the server that answered last.
    var order: [Int] {
        let first = Self.answered.withLockedValue { $0[name] } ?? 0
        return servers.indices.map { ($0 + first) % servers.count }
    }

    func answered(_ index: Int) {
        guard servers.count > 1 else { return }
        Self.answered.withLockedValue { $0[name] = index }
    }
}
