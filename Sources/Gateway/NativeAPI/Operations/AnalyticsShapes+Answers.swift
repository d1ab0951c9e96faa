import AnswerShapes
import DeviceFiles
import HTTPTypes
import Hummingbird
import Imports
import Model
import NIOCore
import Store

extension AnalyticsShapes {
    /// Lines of CSV as RFC 4180 describes them; no cell begins with what a spreadsheet would run. `notes`: further headers.
    static func csv(_ header: [String], _ rows: [[String]], _ notes: [String: String]) -> Response {
        var text = ""
        for row in [header] + rows { text += CSV.record(row.map(CSV.neutral)) + "\r\n" }
        var headers: HTTPFields = [.contentType: "text/csv; charset=utf-8"]
        for (note, value) in notes { if let name = HTTPField.Name(note) { headers[name] = value } }
        return Response(
            status: .ok,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }
}
