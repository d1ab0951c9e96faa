import NIOConcurrencyHelpers

/// The servers that a connection string names, to be tried one at a time.
///
/// libpq walks such a list by itself, but goes on from a server that refuses only: one that has vanished from the network takes all the time there is.
/// After the loss of a primary's machine nobody would then reach its successor. So each is tried by itself, with its share of the time, and the one
/// that answered last is tried first.
struct HostList: Sendable {
    typealias Parameters = [(keyword: String, value: String)]

    /// Parameters for each server, in the order of the string.
    let servers: [Parameters]
    private let name: String

    /// Which server of a list answered last, by the list's text: hosts and ports, nothing secret. As many as there are connection strings.
    private static let answered = NIOLockedValueBox<[String: Int]>([:])

    /// - Parameter parameters: as parsed. What is no list, or one that only libpq understands, is one entry.
    init(_ parameters: Parameters) {
        func parts(_ keyword: String) -> [String] {
            guard let value = parameters.first(where: { $0.keyword == keyword })?.value else { return [] }
            return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, addresses, ports) = (parts("host"), parts("hostaddr"), parts("port"))
        let count = max(hosts.count, addresses.count)
        name = [hosts, addresses, ports].map { $0.joined(separator: ",") }.joined(separator: " ")
        // Of a standby it prefers libpq must see the whole list; of lists that do not fit each other it says so.
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

    /// Places in `servers`, the one that answered last first.
    var order: [Int] {
        let first = Self.answered.withLockedValue { $0[name] } ?? 0
        return servers.indices.map { ($0 + first) % servers.count }
    }

    func answered(_ index: Int) {
        guard servers.count > 1 else { return }
        Self.answered.withLockedValue { $0[name] = index }
    }
}
