import PageParts

enum CapturesText {
    static let title = Text(ko: "요청 로그", en: "Request log")
    static let list = Text(ko: "기록", en: "Captures")
    static let capture = Text(ko: "기록", en: "Capture")
    static let calls = Text(ko: "요청", en: "Calls")
    static let started = Text(ko: "시작", en: "Started")
    static let by = Text(ko: "시작한 계정", en: "Started by")
    static let ends = Text(ko: "종료", en: "Ends")
    static let ended = Text(ko: "조기 종료", en: "Ended early")
    static let size = Text(ko: "크기", en: "Size")
    static let texts = Text(ko: "메시지 내용", en: "Texts")
    static let textsKept = Text(ko: "전체 기록", en: "Recorded in full")
    static let textsHidden = Text(ko: "숨김", en: "Hidden")
    static let running = Text(ko: "기록 중", en: "Running")
    static let over = Text(ko: "시간 종료", en: "Time limit reached")
    static let stopped = Text(ko: "중지됨", en: "Stopped")
    static let full = Text(ko: "한도 도달", en: "Full")
    static let stop = Text(ko: "기록 중지", en: "Stop capture")
    static let stoppedNotice = Text(ko: "기록을 중지했습니다.", en: "The capture is stopped.")
    static let delete = Text(ko: "기록 삭제", en: "Delete capture")
    static let deleteQuestion = Text(
        ko: "기록된 요청을 모두 삭제합니다. 되돌릴 수 없습니다.",
        en: "All recorded calls are deleted. This cannot be undone."
    )
    static let start = Text(ko: "기록 시작", en: "Start capture")
    static let startNote = Text(
        ko: "키·토큰·전화번호는 가려서 기록합니다.",
        en: "Keys, tokens and phone numbers are recorded masked."
    )
    static let minutes = Text(ko: "기록 시간(분)", en: "Minutes")
    static let minutesHint = Text(ko: "1–1,440분 뒤 자동으로 끝납니다.", en: "The capture ends after 1 to 1,440 minutes.")
    static let exchanges = Text(ko: "최대 요청 수", en: "Calls")
    static let exchangesHint = Text(ko: "1–1,000건을 기록하면 끝납니다.", en: "The capture ends after 1 to 1,000 calls.")
    static let keepTexts = Text(ko: "메시지 내용도 전체 기록", en: "Record message texts in full")
    static let outcome = Text(ko: "결과", en: "Result")
    static let known = Text(ko: "처리됨", en: "Carried out")
    static let refused = Text(ko: "거절됨", en: "Refused")
    static let unknown = Text(ko: "알 수 없는 요청", en: "Unknown call")
    static let call = Text(ko: "호출", en: "Call")
    static let status = Text(ko: "응답", en: "Answer")
    static let reason = Text(ko: "사유", en: "Reason")
    static let headers = Text(ko: "헤더", en: "Headers")
    static let hidden = Text(ko: "(숨김)", en: "(hidden)")
    static let body = Text(ko: "요청 본문", en: "Request body")
    static let answer = Text(ko: "응답 본문", en: "Answer body")
    static let emptyBody = Text(ko: "(비어 있음)", en: "(empty)")
    static let empty = Text(ko: "아직 기록이 없습니다.", en: "There are no captures yet.")
    static let emptyStep = Text(
        ko: "앱과 벤더를 골라 기록을 시작하면 앱과 백엔드의 호출이 여기에 표시됩니다.",
        en: "Choose an app and a vendor and start a capture; the calls of apps and back ends then appear here."
    )
    static let noCalls = Text(ko: "아직 기록된 요청이 없습니다.", en: "No call has been recorded yet.")
    static let noCallsStep = Text(
        ko: "앱이나 백엔드에서 게이트웨이를 호출하세요. 호출이 도착하지 않으면 연결 방법을 확인하세요.",
        en: "Let the app or the back end call the gateway. If nothing arrives, check how it connects."
    )
    static let noneRunning = Text(ko: "진행 중인 기록이 없습니다.", en: "No capture is running.")

    static func oneRunning(_ app: String, _ vendor: String, _ until: String) -> Text {
        Text(
            ko: "\(app) 앱의 \(vendor) 요청을 \(until)까지 기록합니다.",
            en: "The \(vendor) calls of \(app) are being recorded until \(until)."
        )
    }

    static func someRunning(_ count: String) -> Text {
        Text(ko: "기록 \(count)개가 진행 중입니다.", en: "\(count, one: "capture is", many: "captures are") running.")
    }

    static func nothingYet(_ until: String) -> Text {
        Text(
            ko: "아직 도착한 요청이 없습니다. \(until)까지 기록합니다.",
            en: "No call has arrived yet. The capture runs until \(until)."
        )
    }

    static let nothing = Text(ko: "기록하는 동안 도착한 요청이 없습니다.", en: "No call arrived during the capture.")

    static func allKnown(_ count: String) -> Text {
        Text(
            ko: "표시된 요청 \(count)건이 모두 처리되었습니다.",
            en: count == "1" ? "The call shown was carried out." : "All \(count) calls shown were carried out."
        )
    }

    static func someRefused(_ count: String, _ total: String, _ reason: String) -> Text {
        Text(
            ko: "표시된 요청 \(total)건 중 \(count)건이 거절되었습니다. 첫 번째 사유: \(reason)",
            en: "Of \(total, one: "call") shown, \(count, one: "was", many: "were") refused. First reason: \(reason)"
        )
    }

    static func someUnknown(_ count: String, _ total: String, _ path: String) -> Text {
        Text(
            ko: "표시된 요청 \(total)건 중 \(count)건은 벤더 형식에 없는 호출입니다: \(path)",
            en:
                "Of \(total, one: "call") shown, \(count, one: "is", many: "are") not in the vendor's interface: \(path)"
        )
    }
}
