import Model

/// The marketing server's two calls, in JSON (docs/contracts/upmc.md#1.13).
struct MarketingRequest {
    let object: JSONObject

    /// - Throws: `AdapterError(.unreadable)` if the body is not a JSON object.
    init(_ body: [UInt8]) throws(AdapterError) {
        guard let object = (try? JSONParser.parse(body))?.object else { throw AdapterError(.unreadable) }
        self.object = object
    }

    func required(_ name: String) throws(AdapterError) -> String {
        guard let text = object[name]?.lenientString, !text.isEmpty else { throw AdapterError(.missing, field: name) }
        guard text.utf8.count <= UPMCLimits.identifierBytes, !text.hasByte(0) else {
            throw AdapterError(.invalid, field: name)
        }
        return text
    }

    func command(_ endpoint: UPMCCall) throws(AdapterError) -> Command {
        let user = UserID(try required("cuid"))
        return .campaign(.visit(user, campaign: endpoint == .purchase ? try required("id") : nil))
    }
}
