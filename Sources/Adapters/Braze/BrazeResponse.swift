import HTTPTypes
import Model

/// Writes the vendor's answer to one request.
struct BrazeResponse {
    private let request: VendorRequest

    init(_ request: VendorRequest) { self.request = request }

    func answer(_ replies: [Reply]) -> VendorResponse {
        if request.canonicalPath == BrazeCall.track.rawValue { return tracked(replies) }
        for case .refused(let refusal) in replies { return failure(BrazeError(refusal)) }
        if let call = try? BrazeCall(request),
            let facts = SubscriptionCalls(call, request).facts(replies) ?? UserCalls(call, request).facts(replies)
                ?? CampaignCalls(call, request).facts(replies)
        {
            return success(facts, status: call.method == .get ? 200 : 201)
        }
        return failure(notDone(replies) ?? BrazeError(.unavailable(retryAfter: nil)))
    }

    /// The error for an object that does not exist; nil for other replies.
    private func notDone(_ replies: [Reply]) -> BrazeError? {
        switch replies.first {
        case .campaign(.found(nil))?: BrazeError(400, BrazeText.campaign)
        case .campaign(.removed(false))?, .campaign(.schedule(nil))?:
            BrazeError(BrazeText.fault("schedule_id"))
        default: nil
        }
    }

    private func tracked(_ replies: [Reply]) -> VendorResponse {
        do throws(AdapterError) {
            switch try UserTrack(request).outcome(replies) {
            case .failure(let error): return failure(error)
            case .success(let outcome):
                if outcome.isUsable { return success(outcome.facts) }
                // No usable element (docs/contracts/braze.md#4.2).
                var body: JSONObject = ["message": .string(BrazeText.noData)]
                body["errors"] = outcome.facts["errors"]
                return response(400, body, remaining: budget.limit - 1)
            }
        } catch {
            return failure(BrazeError(error))
        }
    }

    /// The answer to each POST is 201 and exactly `success`: clients treat any other message as a failure (docs/contracts/braze.md#4.2).
    private func success(_ facts: JSONObject, status: Int = 201) -> VendorResponse {
        var body = facts
        body["message"] = "success"
        return response(status, body, remaining: budget.limit - 1)
    }

    func failure(_ error: BrazeError) -> VendorResponse {
        var response = response(
            error.status,
            [error.key: .string(error.text)],
            remaining: error.status == 429 ? 0 : budget.limit - 1
        )
        if let after = error.retryAfter { response.headers[.retryAfter] = "\(after)" }
        return response
    }

    private var budget: RateBudget { RateBudget.of(request.canonicalPath) }

    private func response(_ status: Int, _ body: JSONObject, remaining: Int) -> VendorResponse {
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        let reset = (request.receivedAt + .seconds(budget.window)).seconds
        for (name, value) in [
            ("X-RateLimit-Limit", "\(budget.limit)"), ("X-RateLimit-Remaining", "\(remaining)"),
            ("X-RateLimit-Reset", "\(reset)"),
        ] {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return VendorResponse(status: status, headers: headers, body: JSONWriter.bytes(.object(body)))
    }
}
