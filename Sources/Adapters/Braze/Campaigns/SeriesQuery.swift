import Model

/// The query of `GET /sends/data_series` (docs/contracts/braze.md#5.8).
struct SeriesQuery {
    let label: String
    let days: ClosedRange<Int32>

    /// - Throws: `AdapterError` with the text of the answer.
    init(_ request: VendorRequest) throws(AdapterError) {
        func name(_ field: String, _ text: String) throws(AdapterError) -> String {
            guard let value = request.parameter(field), (1...BrazeLimits.nameBytes).contains(value.utf8.count) else {
                throw AdapterError(.invalid, field: text)
            }
            return value
        }
        let campaign = try name("campaign_id", BrazeText.campaign)
        label = SendLabel.send(try name("send_id", "'send_id' is not valid"), of: campaign)
        guard let length = request.parameter("length").map(Int32.init) ?? BrazeLimits.seriesDays,
            (1...Int32(CampaignCommand.dayLimit)).contains(length)
        else { throw BrazeText.fault("length") }
        var end = request.receivedAt
        if let text = request.parameter("ending_at"), !text.isEmpty {
            guard let time = BrazeTime.parse(text), time <= request.receivedAt else {
                throw BrazeText.fault("ending_at")
            }
            end = time
        }
        let last = max(end.day, length)
        days = last - length + 1...last
    }

    /// One entry for each day of the range, the earliest first. Only pushes are counted; the gateway has no data about conversions and revenue.
    func json(_ found: [SeriesDay]) -> [JSON] {
        let byDay = Dictionary(found.map { ($0.day, $0) }) { first, _ in first }
        return days.map { day in
            let counts = byDay[day] ?? SeriesDay(day: day, sent: 0, read: 0, failed: 0, users: 0)
            return [
                "time": .string(String("\(LocalTime(seconds: Int64(day) * 86_400))".prefix(10))),
                "messages": [
                    "ios_push": [
                        [
                            "variation_name": "Variant 1", "sent": .int(counts.sent), "direct_opens": .int(counts.read),
                            "total_opens": .int(counts.read), "bounces": .int(counts.failed),
                            "body_clicks": .int(counts.read),
                        ]
                    ]
                ],
                "conversions": 0, "unique_recipients": .int(counts.users), "revenue": 0,
            ]
        }
    }
}
