// Runs the capture application: messages, keys, statistics and an orderly end.
#include "capture/app.hpp"

#include <fmt/core.h>
#include <glib-unix.h>
#include <gst/video/navigation.h>
#include <termios.h>
#include <unistd.h>

#include <cmath>

#include "common/denoise_stats.hpp"

namespace quietframe::examples {
namespace {

bool is_looped(const CaptureOptions& o) {
  return o.source.empty() || (!o.source.starts_with("/dev/") && o.source != "test" && !o.caps.empty());
}

// Keys come one by one, without Enter.
void set_key_mode(bool on) {
  static termios before;
  if (on) {
    tcgetattr(STDIN_FILENO, &before);
    termios raw = before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  } else {
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }
}

GstPadProbeReturn on_window_event(GstPad*, GstPadProbeInfo* info, gpointer user) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  const char* key = nullptr;
  if (GST_EVENT_TYPE(event) == GST_EVENT_NAVIGATION &&
      gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_KEY_PRESS &&
      gst_navigation_event_parse_key_event(event, &key) && key != nullptr) {
    const std::string name = key;
    const char pressed = name == "plus"     ? '+'
                         : name == "minus"  ? '-'
                         : name == "equal"  ? '='
                         : name.size() == 1 ? name[0]
                                            : '\0';
    const std::string said = static_cast<Controls*>(user)->key(pressed);
    if (!said.empty()) fmt::print("{}\n", said);
  }
  return GST_PAD_PROBE_OK;
}

}  // namespace

CaptureApp::CaptureApp(const CaptureOptions& options)
    : options_(options), loop_(g_main_loop_new(nullptr, FALSE)) {
  if (is_looped(options))
    clip_ = load_clip({options.source, options.caps, options.source.empty() ? 60 : 300, 512, 512});
  pipeline_ = std::make_unique<Pipeline>(describe());
  denoise_ = pipeline_->element("denoise");
  for (const auto& setting : options.settings) set_property(denoise_.get(), setting);
  const bool preview = !options.headless || options.split;
  Controls::Actions actions{[this] { end(); }, [this] { print_statistics(); }, {}};
  if (preview) actions.toggle_split = [this] { set_split(!split_on_); };
  controls_ = std::make_unique<Controls>(denoise_.get(), std::move(actions));
  if (!clip_.frames.empty()) {
    const Owned<GstElement> source = pipeline_->element("clip");
    g_object_set(source.get(), "caps", clip_.caps.get(), nullptr);
    GstAppSrcCallbacks callbacks{};
    callbacks.need_data = &CaptureApp::on_need_data;
    gst_app_src_set_callbacks(GST_APP_SRC(source.get()), &callbacks, this, nullptr);
  }
  if (!options.headless) watch_window_keys();
}

CaptureApp::~CaptureApp() {
  pipeline_.reset();
  for (const guint watch : watches_) g_source_remove(watch);
  if (stdin_watch_ != 0) g_source_remove(stdin_watch_);
  if (terminal_) set_key_mode(false);
  g_main_loop_unref(loop_);
}

// Keys pressed in the preview window travel upstream from the sink as navigation events.
void CaptureApp::watch_window_keys() {
  const Owned<GstElement> view = pipeline_->element("view");
  const Owned<GstPad> pad(gst_element_get_static_pad(view.get(), "src"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_window_event, controls_.get(), nullptr);
}

// The next frame of the clip, again from its beginning after its end, stamped at its frame rate.
void CaptureApp::on_need_data(GstAppSrc* source, guint, gpointer user) {
  auto* app = static_cast<CaptureApp*>(user);
  const Clip& clip = app->clip_;
  const int n = GST_VIDEO_INFO_FPS_N(&clip.info) > 0 ? GST_VIDEO_INFO_FPS_N(&clip.info) : 30;
  const int d = GST_VIDEO_INFO_FPS_N(&clip.info) > 0 ? GST_VIDEO_INFO_FPS_D(&clip.info) : 1;
  GstBuffer* buffer = gst_buffer_copy(clip.frames[app->fed_ % clip.frames.size()].get());
  GST_BUFFER_PTS(buffer) =
      gst_util_uint64_scale(app->fed_, GST_SECOND * static_cast<guint64>(d), static_cast<guint64>(n));
  GST_BUFFER_DURATION(buffer) = gst_util_uint64_scale_int(GST_SECOND, d, n);
  ++app->fed_;
  gst_app_src_push_buffer(source, buffer);
}

void CaptureApp::set_split(bool on) {
  const Owned<GstElement> view = pipeline_->element("view"), crop = pipeline_->element("right");
  const Owned<GstPad> input(gst_element_get_static_pad(view.get(), "sink_0")),
      output(gst_element_get_static_pad(view.get(), "sink_1"));
  const Owned<GstCaps> caps(gst_pad_get_current_caps(input.get()));
  int width = 0;
  if (caps) gst_structure_get_int(gst_caps_get_structure(caps.get(), 0), "width", &width);
  const int left = on ? width / 2 / 2 * 2 : 0;
  g_object_set(crop.get(), "left", left, nullptr);
  g_object_set(output.get(), "xpos", left, nullptr);
  split_on_ = on;
}

void CaptureApp::end() {
  if (ending_) {  // asked twice: do not wait for a pipeline that does not answer
    g_main_loop_quit(loop_);
    return;
  }
  ending_ = true;
  gst_element_send_event(pipeline_->get(), gst_event_new_eos());
}

void CaptureApp::print_statistics() {
  const DenoiseStats s = denoise_stats(denoise_.get());
  const gint64 now = g_get_monotonic_time();
  const double seconds = static_cast<double>(now - time_before_) * 1e-6;
  const double rate =
      time_before_ != 0 && seconds > 0 ? static_cast<double>(s.frames_out - frames_before_) / seconds : 0;
  time_before_ = now;
  frames_before_ = s.frames_out;
  GValue filter = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(denoise_.get()), "filter", &filter);
  const Owned<gchar> name(gst_value_serialize(&filter));
  g_value_unset(&filter);
  fmt::print(
      "{}: in {}, out {}, dropped {}, {:.1f} frames/s, latency p50 {:.2f} ms, p99 {:.2f} ms, sigma {}, {} "
      "({} memory)\n",
      name.get(), s.frames_in, s.frames_out, s.frames_dropped, rate, s.total_p50_us / 1000,
      s.total_p99_us / 1000, std::isnan(s.sigma) ? "-" : fmt::format("{:.1f}", s.sigma), s.backend, s.memory);
  std::fflush(stdout);
}

gboolean CaptureApp::on_message(GstBus*, GstMessage* message, gpointer user) {
  auto* app = static_cast<CaptureApp*>(user);
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_EOS:
      g_main_loop_quit(app->loop_);
      break;
    case GST_MESSAGE_ERROR:
      app->error_ = message_text(message);
      g_main_loop_quit(app->loop_);
      break;
    case GST_MESSAGE_WARNING:
      fmt::print(stderr, "warning: {}\n", message_text(message));
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency(GST_BIN(app->pipeline_->get()));
      break;
    case GST_MESSAGE_STATE_CHANGED:
      if (GST_MESSAGE_SRC(message) == GST_OBJECT(app->pipeline_->get()) && app->options_.split &&
          !app->split_on_) {
        GstState state;
        gst_message_parse_state_changed(message, nullptr, &state, nullptr);
        if (state == GST_STATE_PLAYING) app->set_split(true);
      }
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

void CaptureApp::read_stdin() {
  char bytes[256];
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) {  // closed: go on without it
    g_source_remove(stdin_watch_);
    stdin_watch_ = 0;
    return;
  }
  for (ssize_t i = 0; i < got; ++i) {
    std::string said;
    if (terminal_) {
      said = controls_->key(bytes[i]);
    } else if (bytes[i] != '\n') {
      typed_ += bytes[i];
    } else {
      said = controls_->line(typed_);
      typed_.clear();
    }
    if (!said.empty()) fmt::print("{}\n", said);
  }
  std::fflush(stdout);
}

void CaptureApp::run() {
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_->get()));
  watches_.push_back(gst_bus_add_watch(bus.get(), &CaptureApp::on_message, this));
  const auto call_end = [](gpointer app) -> gboolean {
    static_cast<CaptureApp*>(app)->end();
    return G_SOURCE_CONTINUE;
  };
  watches_.push_back(g_unix_signal_add(SIGINT, call_end, this));
  watches_.push_back(g_unix_signal_add(SIGTERM, call_end, this));
  if (options_.seconds > 0)
    watches_.push_back(g_timeout_add(static_cast<guint>(options_.seconds * 1000), call_end, this));
  const auto statistics = [](gpointer app) -> gboolean {
    static_cast<CaptureApp*>(app)->print_statistics();
    return G_SOURCE_CONTINUE;
  };
  if (options_.statistics_interval > 0)
    watches_.push_back(
        g_timeout_add(static_cast<guint>(options_.statistics_interval * 1000), statistics, this));
  terminal_ = isatty(STDIN_FILENO) != 0;
  if (terminal_) set_key_mode(true);
  const auto on_input = [](gint, GIOCondition, gpointer app) -> gboolean {
    static_cast<CaptureApp*>(app)->read_stdin();
    return G_SOURCE_CONTINUE;
  };
  stdin_watch_ = g_unix_fd_add(STDIN_FILENO, static_cast<GIOCondition>(G_IO_IN | G_IO_HUP), on_input, this);
  if (terminal_) fmt::print("{}\n", Controls::help());
  pipeline_->set_state(GST_STATE_PLAYING);
  g_main_loop_run(loop_);
  print_statistics();
  if (!error_.empty()) throw PipelineError(error_);
}

}  // namespace quietframe::examples
