import AnswerShapes
import DeviceFiles
import HTTPTypes
import Hummingbird
import Imports
import Model
import NIOCore
import Store

extension AnalyticsShapes {
    /// The members of every answer that say what was counted.
    static func head<Value: Sendable>(
        _ question: @escaping @Sendable (Value) -> FunnelQuestion
    ) -> [AnswerShape<Value>.Member] {
        [
            .time("from", "The first moment that is counted.") { question($0).range.start },
            .time("to", "The first moment that is no longer counted.") { question($0).range.end },
            .text("zone", "The time zone of days.", example: "Europe/Berlin") { question($0).zone.text },
            .optionalTime(
                "daysOnlyUntil",
                "Before this time, counts are kept by day of their app's time zone; null: not in this range."
            ) { question($0).daysOnlyUntil },
        ]
    }

    /// Lines of CSV as RFC 4180 describes them; no cell begins with what a spreadsheet would run.
    static func csv(_ header: [String], _ rows: [[String]]) -> Response {
        var text = ""
        for row in [header] + rows { text += CSV.record(row.map(CSV.neutral)) + "\r\n" }
        return Response(
            status: .ok,
            headers: [.contentType: "text/csv; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
