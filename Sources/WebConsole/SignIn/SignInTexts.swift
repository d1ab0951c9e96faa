package import PageParts

/// The words of the pages outside of tenants.
package enum SignInTexts {
    static let signIn = Text(ko: "로그인", en: "Sign in")
    static let signInLead = Text(ko: "콘솔 계정으로 로그인하세요.", en: "Sign in with your account of this console.")
    static let tenants = Text(ko: "테넌트", en: "Tenants")
    static let tenant = Text(ko: "테넌트", en: "Tenant")
    static let chooseTenant = Text(ko: "테넌트를 선택하세요.", en: "Choose a tenant.")
    static let noTenants = Text(ko: "이 계정에는 아직 역할이 없습니다.", en: "This account has no role yet.")
    static let noTenantsStep = Text(
        ko: "테넌트의 소유자에게 역할을 요청하세요.",
        en: "Ask an owner of the tenant for a role."
    )
    static let signOut = Text(ko: "로그아웃", en: "Sign out")
    static let name = Text(ko: "계정 이름", en: "Account name")
    static let password = Text(ko: "비밀번호", en: "Password")
    static let newPassword = Text(ko: "새 비밀번호", en: "New password")
    static let repeated = Text(ko: "새 비밀번호 확인", en: "New password again")
    static let passwordHint = Text(ko: "12자 이상", en: "At least 12 characters")
    static let code = Text(ko: "일회용 코드", en: "One-time code")
    static let codeHint = Text(ko: "인증 앱에 표시된 6자리 숫자", en: "The six digits that your authenticator shows")
    static let codeTitle = Text(ko: "일회용 코드 입력", en: "Enter your one-time code")
    static let goOn = Text(ko: "계속", en: "Continue")
    static let prove = Text(ko: "비밀번호 다시 입력", en: "Enter your password again")
    static let proveLead = Text(
        ko: "키, 인증서, 계정을 변경하거나 개인정보를 표시하려면 10분 이내에 입력한 비밀번호가 필요합니다.",
        en: "Changes of keys, credentials and accounts, and personal data, require a password given within ten minutes."
    )
    static let account = Text(ko: "내 계정", en: "Your account")
    static let sessions = Text(ko: "로그인된 세션", en: "Sessions")
    static let thisSession = Text(ko: "현재 세션", en: "This session")
    static let endSession = Text(ko: "세션 종료", en: "End session")
    static let changePassword = Text(ko: "비밀번호 변경", en: "Change password")
    static let codes = Text(ko: "일회용 코드", en: "One-time codes")
    static let codesOn = Text(ko: "사용 중입니다.", en: "One-time codes are on.")
    static let codesOff = Text(ko: "사용하지 않습니다.", en: "One-time codes are off.")
    static let codesRequired = Text(
        ko: "이 콘솔은 일회용 코드를 요구합니다. 계속하려면 설정하세요.",
        en: "This console requires one-time codes. Set them up to continue."
    )
    static let setCodes = Text(ko: "일회용 코드 설정", en: "Set up one-time codes")
    static let removeCodes = Text(ko: "일회용 코드 해제", en: "Turn off one-time codes")
    static let addSecret = Text(
        ko: "인증 앱에 아래 키를 추가한 다음, 표시된 코드를 입력하세요.",
        en: "Add this key to an authenticator application, then enter the code that it shows."
    )
    static let confirmCodes = Text(ko: "코드 확인", en: "Confirm the code")
    static let currentPassword = Text(ko: "현재 비밀번호", en: "Present password")
    static let roles = Text(ko: "역할", en: "Roles")
    static let invited = Text(ko: "계정 만들기", en: "Create your account")
    static let reset = Text(ko: "새 비밀번호 설정", en: "Choose a new password")
    static let from = Text(ko: "접속 주소", en: "Address")
    static let signedInAt = Text(ko: "로그인 시각 (UTC)", en: "Signed in (UTC)")
    static let lastUsed = Text(ko: "마지막 사용 (UTC)", en: "Last used (UTC)")
    static let browser = Text(ko: "브라우저", en: "Browser")
    static let secret = Text(ko: "인증 앱 키", en: "Key")
    static let address = Text(ko: "인증 앱 주소", en: "Address for the application")

    static func signedInAs(_ name: String) -> Text {
        Text(ko: "\(name) 계정으로 로그인되어 있습니다.", en: "You are signed in as \(name).")
    }

    static let reveal = Text(ko: "개인정보 표시", en: "Show personal data")

    // MARK: Errors and notices

    package static let wrong = Text(
        ko: "계정 이름 또는 비밀번호가 올바르지 않습니다.",
        en: "The account name or the password is wrong."
    )
    package static let wrongPassword = Text(ko: "비밀번호가 올바르지 않습니다.", en: "The password is wrong.")
    package static let wrongCode = Text(
        ko: "코드가 올바르지 않거나 이미 사용되었습니다.",
        en: "The code is wrong, or it was used already."
    )
    package static let differ = Text(ko: "두 비밀번호가 서로 다릅니다.", en: "The two passwords differ.")
    package static let busy = Text(
        ko: "로그인 요청이 많습니다. 몇 초 후 다시 시도하세요.",
        en: "Many people are signing in. Try again in a few seconds."
    )
    package static let unusable = Text(
        ko: "사용할 수 없는 링크입니다. 이미 사용되었거나 15분이 지났습니다. 새 링크를 요청하세요.",
        en: "This link cannot be used: it was used already, or its 15 minutes are over. Ask for a new one."
    )
    package static let nameTaken = Text(
        ko: "같은 이름의 계정이 이미 있습니다. 다른 이름으로 초대를 요청하세요.",
        en: "Another account has this name already. Ask for an invitation with another name."
    )
    package static let expired = Text(
        ko: "세션이 끝났습니다. 다시 로그인하세요.",
        en: "The session has ended. Sign in again."
    )
    package static let changed = Text(ko: "변경했습니다.", en: "Changed.")

    package static func blocked(_ seconds: Int) -> Text {
        let minutes = (seconds + 59) / 60
        return seconds < 90
            ? Text(
                ko: "로그인 시도가 너무 많습니다. \(seconds)초 후 다시 시도하세요.",
                en: "Too many attempts. Try again in \(seconds, one: "second")."
            )
            : Text(
                ko: "로그인 시도가 너무 많습니다. \(minutes)분 후 다시 시도하세요.",
                en: "Too many attempts. Try again in \(minutes, one: "minute")."
            )
    }
}

/// The words of answers that are not pages.
package enum ConsoleProblem: Sendable, Hashable, CaseIterable {
    case badRequest, forged, forbidden, notFound, methodNotAllowed, conflict, tooLarge, insecure, unavailable, failed,
        busy

    package var status: Int {
        switch self {
        case .badRequest: 400
        case .forged, .forbidden, .insecure: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .conflict: 409
        case .tooLarge: 413
        case .busy: 429
        case .failed: 500
        case .unavailable: 503
        }
    }

    package var title: Text {
        switch self {
        case .badRequest: Text(ko: "요청을 읽을 수 없습니다", en: "The request cannot be read")
        case .forged: Text(ko: "이 페이지에서 보낸 요청이 아닙니다", en: "The request does not come from this page")
        case .forbidden: Text(ko: "권한이 없습니다", en: "No permission")
        case .notFound: Text(ko: "찾을 수 없습니다", en: "Not found")
        case .methodNotAllowed: Text(ko: "허용되지 않는 방법입니다", en: "The method is not allowed")
        case .conflict: Text(ko: "다른 사람이 먼저 변경했습니다", en: "Another person changed it first")
        case .tooLarge: Text(ko: "요청이 너무 큽니다", en: "The request is too large")
        case .insecure: Text(ko: "HTTPS가 필요합니다", en: "HTTPS is required")
        case .unavailable: Text(ko: "지금은 응답할 수 없습니다", en: "Not available now")
        case .failed: Text(ko: "페이지를 표시하지 못했습니다", en: "The page cannot be shown")
        case .busy: Text(ko: "요청이 너무 많습니다", en: "Too many requests")
        }
    }

    /// The event, and the next step.
    package var text: Text {
        switch self {
        case .badRequest:
            Text(ko: "변경된 것은 없습니다. 이전 페이지로 돌아가 다시 시도하세요.", en: "Nothing was changed. Go back and try again.")
        case .forged:
            Text(
                ko: "변경된 것은 없습니다. 페이지를 새로 열고 다시 보내세요.",
                en: "Nothing was changed. Open the page again and send the form again."
            )
        case .forbidden:
            Text(
                ko: "이 작업을 할 수 있는 역할이 아닙니다. 소유자에게 문의하세요.",
                en: "Your role does not permit this. Ask an owner of the tenant."
            )
        case .notFound:
            Text(
                ko: "주소가 올바르지 않거나, 볼 수 있는 항목이 아닙니다.",
                en: "The address is wrong, or it leads to nothing that you may see."
            )
        case .methodNotAllowed: Text(ko: "변경된 것은 없습니다.", en: "Nothing was changed.")
        case .conflict:
            Text(
                ko: "변경된 것은 없습니다. 페이지를 새로 열고 차이를 확인하세요.",
                en: "Nothing was changed. Open the page again and compare."
            )
        case .tooLarge: Text(ko: "변경된 것은 없습니다. 더 작은 내용을 보내세요.", en: "Nothing was changed. Send less.")
        case .insecure:
            Text(
                ko: "콘솔은 HTTPS로만 열 수 있습니다.",
                en: "The console opens over HTTPS only."
            )
        case .unavailable: Text(ko: "변경된 것은 없습니다. 잠시 후 다시 시도하세요.", en: "Nothing was changed. Try again in a moment.")
        case .failed:
            Text(
                ko: "요청 ID와 함께 관리자에게 알려 주세요.",
                en: "Report it to the operator with the request ID."
            )
        case .busy: Text(ko: "잠시 후 다시 시도하세요.", en: "Try again in a moment.")
        }
    }
}
