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
}
