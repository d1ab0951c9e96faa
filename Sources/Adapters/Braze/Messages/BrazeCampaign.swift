import Model

/// A campaign of this vendor: `{"variations": [{"message_variation_id": "…", "apple_push": {…}}]}` (docs/contracts/braze.md#5.6). It is stored through
/// the native API.
struct BrazeCampaign {
    struct Variation {
        var id: String
        var push: JSONObject
    }

    let campaign: Campaign
    /// At least one; a trigger sends the first.
    let variations: [Variation]

    init?(_ campaign: Campaign) {
        self.campaign = campaign
        variations = Self.variations(campaign.body)
        if variations.isEmpty { return nil }
    }

    /// The problem with `body`, as one sentence; nil if it can be sent.
    static func problem(in body: JSONObject) -> String? {
        let known = ["variations", SubscriptionFields.stateField]
        if let field = body.keys.first(where: { !known.contains($0) }) { return "'\(field)' is not known" }
        do throws(AdapterError) { _ = try SubscriptionFields.rule(body) } catch { return error.field }
        guard let list = body["variations"]?.array, (1...BrazeLimits.variationCount).contains(list.count) else {
            return "'variations' must be 1 to \(BrazeLimits.variationCount) objects"
        }
        let found = variations(body)
        guard found.count == list.count, Set(found.map(\.id)).count == found.count else {
            return "each of 'variations' must have 'message_variation_id' of its own and 'apple_push'"
        }
        for variation in found {
            do throws(AdapterError) {
                // A campaign may be sent at any time, so its pushes cannot have a fixed expiry time.
                guard (variation.push["expiry"] ?? .null) == .null else { throw BrazeText.fault("expiry") }
                _ = try ApplePush(variation.push, at: Timestamp(milliseconds: 0))
            } catch {
                return "\(variation.id): \(error.field ?? BrazeText.nothing)"
            }
        }
        return nil
    }

    private static func variations(_ body: JSONObject) -> [Variation] {
        (body["variations"]?.array ?? []).compactMap { value in
            guard let id = value["message_variation_id"]?.string, (1...BrazeLimits.nameBytes).contains(id.utf8.count),
                let push = value["apple_push"]?.object
            else { return nil }
            return Variation(id: id, push: push)
        }
    }

    /// The consent that a trigger requires: the body's setting, otherwise the campaign's.
    ///
    /// - Throws: `AdapterError` with the text of the answer.
    func consent(_ body: JSONObject) throws(AdapterError) -> ConsentRule {
        let says = UserFields.isGiven(body[SubscriptionFields.stateField])
        return try SubscriptionFields.rule(says ? body : campaign.body)
    }

    /// The facts of the campaign that templates of its messages may use.
    var facts: JSON { ["api_id": .string(campaign.id), "name": .string(campaign.name)] }
}
