//go:build desktop && e2e

package main

// The window under test: WebKitWebDriver may drive it. It is built by tests alone and never shipped.
//
// Wails makes its view with webkit_web_view_new_with_user_content_manager. The executable's own symbol of that name
// wins over libwebkit2gtk's: it makes the same view, lets it be automated, and hands it to the session that asks.

/*
#cgo pkg-config: webkit2gtk-4.1
#include <webkit2/webkit2.h>

static WebKitWebView *view;

static WebKitWebView *give_view(WebKitAutomationSession *session, gpointer unused) { return view; }

static void on_automation(WebKitWebContext *context, WebKitAutomationSession *session, gpointer unused) {
	WebKitApplicationInfo *info = webkit_application_info_new();
	webkit_application_info_set_name(info, "termic");
	webkit_application_info_set_version(info, 1, 0, 0);
	webkit_automation_session_set_application_info(session, info);
	webkit_application_info_unref(info);
	g_signal_connect(session, "create-web-view", G_CALLBACK(give_view), NULL);
}

GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
	WebKitWebContext *context = webkit_web_context_get_default();
	webkit_web_context_set_automation_allowed(context, TRUE);
	g_signal_connect(context, "automation-started", G_CALLBACK(on_automation), NULL);
	view = g_object_new(WEBKIT_TYPE_WEB_VIEW, "web-context", context, "user-content-manager", manager,
		"is-controlled-by-automation", TRUE, NULL);
	return GTK_WIDGET(view);
}
*/
import "C"

func init() { underTest = true }
