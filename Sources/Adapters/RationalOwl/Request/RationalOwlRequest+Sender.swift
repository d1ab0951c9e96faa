import Model

/// The calls by which a back end registers and sets a callback (docs/contracts/rationalowl.md#8.2, docs/contracts/rationalowl.md#8.5).
extension RationalOwlRequest {
    /// `msgClient/register`. The constants `cId`, `r` and `t` are ignored, because no answer depends on them.
    func enrolment() throws(AdapterError) -> SenderCommand {
        .enrol(
            try sender(),
            name: try fields.text("mcn", limit: RationalOwlLimits.nameBytes),
            address: try fields.text("ip")
        )
    }

    /// `setCallbackUrl`. An empty URL removes the callback; an absent one is an error.
    func callback() throws(AdapterError) -> SenderCommand {
        let sender = try sender()
        guard fields.has("url") else { throw fields.missing("url") }
        guard let url = try fields.text("url", limit: RationalOwlLimits.urlBytes) else {
            return .setCallback(sender, url: nil)
        }
        guard Self.isWebAddress(url) else { throw fields.invalid("url") }
        return .setCallback(sender, url: url)
    }

    /// `rId`: the id that `/server/register` issued.
    func sender() throws(AdapterError) -> SenderID {
        SenderID(try fields.required("rId"))
    }

    /// Checks the syntax only; the permitted addresses are checked when a connection is opened.
    private static func isWebAddress(_ url: String) -> Bool {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        let lower = url.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else { return false }
        guard let first = lower.dropFirst(scheme.count).first else { return false }
        return !"/?#:@".contains(first)
    }
}
