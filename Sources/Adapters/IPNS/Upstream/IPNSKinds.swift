package import Model

extension IPNSCall {
    /// The subject of the call.
    package var kind: CallKind {
        switch self {
        case .appRegist, .updateConfig: .device
        case .recvReport, .readReport: .receipt
        // A poll also marks what it returns as received, by the side that answers it.
        case .getConfig, .getMsgs, .getMsgDetail, .polling: .read
        case .send: .send
        }
    }

    /// The call that a path names by its last segment; nil: the path names none.
    ///
    /// - Parameters:
    ///   - path: the path of the request.
    ///   - names: the binding's names, folded.
    init?(lastSegmentOf path: String, names: [String: IPNSCall]) {
        let segment = String(path.split(separator: "/").last?.prefix { $0 != "." } ?? "")
        guard let call = names[IPNSFields.folded(segment)] ?? IPNSCall(name: segment) else { return nil }
        self = call
    }
}
