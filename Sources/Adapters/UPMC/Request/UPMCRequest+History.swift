import Model

// Histories (docs/contracts/upmc.md#1.11): calls of the gateway, in addition to the vendor's.
extension UPMCRequest {
    func messageList() throws(AdapterError) -> Command {
        let user = try historyUser()
        let count = try parameters.integer("COUNT") ?? UPMCLimits.historyCount
        guard (1...HistoryPage.limit).contains(count) else { throw AdapterError(.invalid, field: "COUNT") }
        let before = try parameters.text("LASTSEQNO")
        if let before, !Self.isNumber(before) { throw AdapterError(.invalid, field: "LASTSEQNO") }
        let look = HistoryLook(isRead: try readFilter(), hiddenBy: DataKey.isStored)
        return .inbox(
            .history(try historyCaller(user), HistoryPage(.user(user), before: before, count: count, look: look))
        )
    }

    func message() throws(AdapterError) -> Command {
        let user = try historyUser()
        let number = try parameters.required("SEQNO")
        return .inbox(.userMessage(try historyCaller(user), user, number: number, hiddenBy: DataKey.isStored))
    }

    /// The badge belongs to the user and is not counted per device.
    func unreadCount() throws(AdapterError) -> [Command] {
        let user = try historyUser()
        let unread = InboxCommand.unread(try historyCaller(user), .user(user), hiddenBy: DataKey.isStored)
        return [.inbox(unread), .badge(.set(nil, of: BadgeHolder(user: user)))]
    }

    /// Assumed: a guest has no history. The device still has the messages of the previous user, which a guest must not see.
    private func historyUser() throws(AdapterError) -> UserID {
        _ = try parameters.required("CUID")
        guard let user = try DeviceName.user(parameters) else { throw AdapterError(.invalid, field: "CUID") }
        return user
    }

    /// Assumed: a `CUID` proves nothing, and every caller can obtain an `AUTHKEY`. Therefore the token of one of the user's devices authenticates the
    /// call, because it is secret; a `DEVICE_ID` is not secret. `history.cuidAlone` permits calls without a token.
    private func historyCaller(_ user: UserID) throws(AdapterError) -> DeviceCaller {
        guard let text = try parameters.text("PSID", limit: UPMCLimits.tokenBytes) else {
            guard settings.showsHistoryByUser else { throw AdapterError(.missing, field: "PSID") }
            return DeviceCaller(user: user)
        }
        let network = try DeviceName.network(parameters)
        guard let token = DeviceName.token(text, network) else { throw AdapterError(.invalid, field: "PSID") }
        return DeviceCaller(token: token)
    }

    private func readFilter() throws(AdapterError) -> Bool? {
        switch try parameters.text("READ_YN")?.uppercased() {
        case nil: nil
        case "Y": true
        case "N": false
        case .some: throw AdapterError(.invalid, field: "READ_YN")
        }
    }

    /// A number, or the id of a message of another vendor.
    private static func isNumber(_ text: String) -> Bool {
        MessageID(text: text) != nil
            || (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
