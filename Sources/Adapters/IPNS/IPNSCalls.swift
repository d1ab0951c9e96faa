import Model

/// A supported call. The raw value is its name in the path, and in metrics and logs.
///
/// Source: docs/contracts/ipns.md#2.5 to docs/contracts/ipns.md#2.11. Assumed: all names except the vendor library's own selectors, which are accepted
/// as aliases (docs/contracts/ipns.md#2.1).
package enum IPNSCall: String, Sendable, CaseIterable {
    case appRegist, recvReport, readReport, updateConfig, getConfig, getMsgs, getMsgDetail, polling, send

    /// The path prefix of the calls.
    package static let mount = "/ipns"

    /// Other names of the call, folded: those of the vendor's library and of its Android version.
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

    private static let named: [String: IPNSCall] = Dictionary(
        allCases.flatMap { operation in
            ([operation.rawValue] + operation.aliases).map { (IPNSFields.folded($0), operation) }
        }
    ) { first, _ in first }

    /// Names in their documented spelling, which most callers use.
    private static let spelled = Dictionary(allCases.map { ($0.rawValue, $0) }) { first, _ in first }

    /// The operation with this name, ignoring case, underscores and dashes.
    package init?(name: String) {
        guard let operation = Self.named[IPNSFields.folded(name)] else { return nil }
        self = operation
    }

    /// The operation of a call (docs/contracts/ipns.md#2.3): from the last segment of its path, otherwise from a field that names it, otherwise from
    /// the set of its fields, which never selects `send`. Nil: unknown; the operation is not guessed.
    ///
    /// - Parameters:
    ///   - path: the path of the request.
    ///   - fields: the fields of the request.
    ///   - names: the binding's names, folded.
    init?(path: String, fields: IPNSFields, names: [String: IPNSCall] = [:]) {
        if let operation = IPNSCall(lastSegmentOf: path, names: names)
            ?? fields.operationName.flatMap({ Self.operation($0, names) })
        {
            self = operation
            return
        }
        let fitting = Self.allCases.filter { $0.shape?.fits(fields.keys) ?? false }
        guard fitting.count == 1, let operation = fitting.first else { return nil }
        self = operation
    }

    /// The operation that a path names by its last segment, up to a dot; nil: the path names none.
    ///
    /// - Parameters:
    ///   - path: the path of the request, which is split by bytes.
    ///   - names: the binding's names, folded.
    init?(lastSegmentOf path: String, names: [String: IPNSCall]) {
        let bytes = path.utf8
        guard let end = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return nil }
        let slash = bytes[...end].lastIndex(of: UInt8(ascii: "/"))
        let start = slash.map { bytes.index(after: $0) } ?? bytes.startIndex
        let segment = bytes[start...end].prefix { $0 != UInt8(ascii: ".") }
        guard let operation = Self.operation(String(Substring(segment)), names) else { return nil }
        self = operation
    }

    private static func operation(_ name: String, _ names: [String: IPNSCall]) -> IPNSCall? {
        if names.isEmpty, let operation = spelled[name] { return operation }
        let name = IPNSFields.folded(name)
        return names[name] ?? named[name]
    }

    /// The fields that distinguish it from other calls; nil: it must be named.
    private var shape: Shape? {
        switch self {
        case .appRegist: Shape(needs: [.userCN, .pushToken], takes: [.pushYN, .userToken])
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
        var needs: Set<IPNSFields.Key>
        var takes: Set<IPNSFields.Key> = []

        /// The fields that every call of a device may contain.
        private static let common: Set<IPNSFields.Key> = [.appID, .deviceID, .pushToken, .pushType, .libVer]

        func fits(_ keys: Set<IPNSFields.Key>?) -> Bool {
            guard let keys else { return false }
            return needs.isSubset(of: keys) && keys.isSubset(of: needs.union(takes).union(Self.common))
        }
    }
}
