import AnswerShapes
import DeviceFiles
import HTTPTypes
import Hummingbird
import Imports
import Model
import NIOCore
import Store

extension AnalyticsShapes {
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
