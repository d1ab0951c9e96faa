import Model

/// The body of a webhook call: `{"webhook": id, "generation": id, "events": [...]}`, each event as in `GET /v1/events`.
enum EventBody {
    static let contentType = "application/json"

    /// Writes as many events of `batch` as fit, at least one. The other events are removed from `batch` and left to the next call.
    static func write(_ batch: inout WebhookBatch, for webhook: WebhookID, limitBytes: Int) -> [UInt8] {
        var body = Array("{\"webhook\":\"\(webhook)\",\"generation\":\"\(batch.generation)\",\"events\":[".utf8)
        for (index, event) in batch.events.enumerated() {
            let start = body.count
            if index > 0 { body.append(UInt8(ascii: ",")) }
            JSONWriter.write(event.json, into: &body)
            // 2 more bytes close the body.
            guard index > 0, body.count + 2 > limitBytes else { continue }
            body.removeSubrange(start...)
            batch.cursor = batch.events[index - 1].offset
            batch.hasMore = true
            batch.events.removeSubrange(index...)
            break
        }
        return body + Array("]}".utf8)
    }
}
