import Model

/// One call of the catalogue. The raw value is its name on the wire, and in metrics and logs.
///
/// Source: docs/contracts/ipns.md#2.5 to docs/contracts/ipns.md#2.11. Assumed: all names except the vendor library's own selectors, which are accepted as
/// aliases (docs/contracts/ipns.md#2.1).
package enum Operation: String, Sendable, CaseIterable {
    case appRegist, recvReport, readReport, updateConfig, getConfig, getMsgs, getMsgDetail, polling, send

    /// Where the calls are mounted.
    package static let mount = "/ipns"

    /// Other names of it, folded: what the vendor's library and its Android sibling call it.
    private var aliases: [String] {
        switch self {
        case .appRegist: ["registipng", "regist"]
        case .recvReport: ["recvreporttoserver"]
        case .readReport: ["reportreadresulttoserver"]
        case .updateConfig: ["setpushconfig"]
        case .getConfig: ["getpushconfig"]
        case .getMsgs: ["getpushhistorylist"]
        case .getMsgDetail: ["getpushdetail"]
        case .polling, .send: []
        }
    }

    private static let named: [String: Operation] = Dictionary(
        allCases.flatMap { operation in
            ([operation.rawValue] + operation.aliases).map { (Fields.folded($0), operation) }
        }
    ) { first, _ in first }

    /// The operation of this name, whatever its case, underscores and dashes.
    package init?(name: String) {
        guard let operation = Self.named[Fields.folded(name)] else { return nil }
        self = operation
    }

    /// The operation of a call (docs/contracts/ipns.md#2.3): from the last segment of its path, else from a field that names it, else from the set of its
    /// fields, which never selects `send`. Nil: unknown; the operation is not guessed.
    ///
    /// - Parameters:
    ///   - path: of the request.
    ///   - fields: of the request.
    ///   - names: of the binding, folded.
    init?(path: String, fields: Fields, names: [String: Operation] = [:]) {
        let segment = path.split(separator: "/").last.map { $0.prefix { $0 != "." } } ?? ""
        for name in [String(segment), fields.operationName].compactMap(\.self) {
            if let operation = names[Fields.folded(name)] ?? Operation(name: name) {
                self = operation
                return
            }
        }
        let fitting = Self.allCases.filter { $0.shape?.fits(fields.keys) ?? false }
        guard fitting.count == 1, let operation = fitting.first else { return nil }
        self = operation
    }

    /// Which fields tell it from the others; nil: it must be named.
    private var shape: Shape? {
        switch self {
        case .appRegist: Shape(needs: [.userCN, .pushToken], takes: [.pushYN])
        case .recvReport: Shape(needs: [.msgID], takes: [.userCN])
        case .readReport: Shape(needs: [.reqID, .userCN])
        case .updateConfig: Shape(needs: [.startTime, .endTime], takes: [.pushYN, .cpUserID, .userCN])
        case .getConfig: Shape(needs: [.deviceID])
        case .getMsgs: Shape(needs: [.pushIDType, .reqType], takes: [.reqID, .count, .userCN])
        case .getMsgDetail: Shape(needs: [.reqID])
        case .polling: Shape(needs: [.count], takes: [.userCN])
        case .send: nil
        }
    }

    private struct Shape {
        var needs: Set<Fields.Key>
        var takes: Set<Fields.Key> = []

        /// What every call of a device may carry.
        private static let common: Set<Fields.Key> = [.appID, .deviceID, .pushToken, .pushType, .libVer]

        func fits(_ keys: Set<Fields.Key>?) -> Bool {
            guard let keys else { return false }
            return needs.isSubset(of: keys) && keys.isSubset(of: needs.union(takes).union(Self.common))
        }
    }
}
