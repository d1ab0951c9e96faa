import HTTPTypes
import Model

/// Finds the adapter of a path: exact paths first, then the longest prefix, then suffixes, then second path segments. Repeated slashes count as one.
struct VendorMounts: Sendable {
    struct Match: Sendable {
        var adapter: any VendorAdapter
        var route: VendorRoute
        /// False: the route has this path but another method.
        var methodFits: Bool
    }

    private struct Entry {
        var adapter: any VendorAdapter
        var route: VendorRoute
    }

    /// 1 MiB of a call to a path that no dialect knows.
    static let otherBytes = 1 << 20
    private static let otherRoute = "other"

    private var adapters: [Vendor: any VendorAdapter] = [:]
    private var exact: [String: [Entry]] = [:]
    private var prefixes: [(path: String, entry: Entry)] = []
    private var suffixes: [(ending: String, entry: Entry)] = []
    private var seconds: [String: Entry] = [:]

    init(_ adapters: [any VendorAdapter]) {
        for adapter in adapters {
            self.adapters[adapter.vendor] = adapter
            for route in adapter.routes {
                let entry = Entry(adapter: adapter, route: route)
                switch route.path {
                case .exact(let path): exact[Self.canonical(path), default: []].append(entry)
                case .prefix(let path): prefixes.append((Self.canonical(path), entry))
                case .suffix(let ending): suffixes.append((ending.lowercased(), entry))
                case .within(let part): seconds[part.lowercased()] = entry
                }
            }
        }
        prefixes.sort { $0.path.utf8.count > $1.path.utf8.count }
    }

    func match(path: String, method: HTTPRequest.Method) -> Match? {
        // Most callers use the documented spelling; other paths are normalized and looked up again.
        if let match = documented(path, method) { return match }
        let path = Self.canonical(path)
        if let match = documented(path, method) { return match }
        let below = prefixes.first { path == $0.path || path.hasPrefix($0.path + "/") }?.entry
        let lowered = path.lowercased()
        let named = below ?? suffixes.first(where: { lowered.hasSuffix($0.ending) })?.entry
        guard let entry = named ?? second(of: lowered) else { return nil }
        return Match(adapter: entry.adapter, route: entry.route, methodFits: true)
    }

    /// The match of a path that no dialect knows, on a host of this one.
    func other(of vendor: Vendor) -> Match? {
        adapters[vendor].map { adapter in
            let route = VendorRoute(name: Self.otherRoute, path: .prefix("/"), bodyLimitBytes: Self.otherBytes)
            return Match(adapter: adapter, route: route, methodFits: true)
        }
    }

    private func documented(_ path: String, _ method: HTTPRequest.Method) -> Match? {
        if let entries = exact[path] {
            if let fitting = entries.first(where: { $0.route.method == nil || $0.route.method == method }) {
                return Match(adapter: fitting.adapter, route: fitting.route, methodFits: true)
            }
            if let other = entries.first { return Match(adapter: other.adapter, route: other.route, methodFits: false) }
        }
        return nil
    }

    private func second(of path: String) -> Entry? {
        let parts = path.split(separator: "/", maxSplits: 2)
        return parts.count > 1 ? seconds[String(parts[1])] : nil
    }

    private static func canonical(_ path: String) -> String {
        var path = path.contains("//") ? "/" + path.split(separator: "/").joined(separator: "/") : path
        while path.hasSuffix("/"), path.utf8.count > 1 { path.removeLast() }
        return path
    }
}
