import Model

/// The body of a webhook call: `{"webhook": id, "generation": id, "events": [...]}`, each event as in `GET /v1/events`.
enum EventBody {
    static let contentType = "application/json"

    /// Writes as many events of `batch` as fit, at least one. The other events are removed from `batch` and left to the next call.
    static func write(_ batch: inout WebhookBatch, for webhook: WebhookID, limitBytes: Int) -> [UInt8] {
        let (body, count) = write(batch.events[...], of: batch.generation, for: webhook, limitBytes: limitBytes)
        if count > 0, count < batch.events.count {
            batch.cursor = batch.events[count - 1].offset
            batch.hasMore = true
            batch.events.removeSubrange(count...)
        }
        return body
    }

    /// Writes as many of the first events as fit, at least one. Returns the body and their number.
    static func write(
        _ events: ArraySlice<EventRecord>,
        of generation: String,
        for webhook: WebhookID,
        limitBytes: Int
    ) -> (body: [UInt8], count: Int) {
        var body = Array("{\"webhook\":\"\(webhook)\",\"generation\":\"\(generation)\",\"events\":[".utf8)
        var count = 0
        for event in events {
            let start = body.count
            if count > 0 { body.append(UInt8(ascii: ",")) }
            JSONWriter.write(event.json, into: &body)
            // 2 more bytes close the body.
            if count > 0, body.count + 2 > limitBytes {
                body.removeSubrange(start...)
                break
            }
            count += 1
        }
        body += "]}".utf8
        return (body, count)
    }
}
