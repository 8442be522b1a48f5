// Compiled pipelines on disk: what is read back, what is passed over, and that nothing but our own files is touched.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>

#include "run/vulkan/vulkan_shaders.hpp"
#include "support/directory.hpp"
#include "vyre/run/gpu/cache_folder.hpp"
#include "vyre/run/vulkan/compile/pipeline.hpp"

namespace vyre::test {
namespace {

namespace fs = std::filesystem;
using run::CacheFolder;
using run::vulkan::Options;
using run::vulkan::Shader;

class PipelineFileTest : public testing::Test {
 protected:
  run::KeptFile file(const std::string& device = "device", const Shader& shader = xor_shader()) const {
    return run::vulkan::pipeline_file(Options{.cache_directory = directory_.path}, device, shader);
  }

  const Directory directory_;
  const std::vector<std::byte> data_ = std::vector<std::byte>(50, std::byte{7});
};

TEST_F(PipelineFileTest, gives_back_what_it_was_given) {
  EXPECT_TRUE(file().read().empty());
  file().write(data_);
  EXPECT_EQ(file().read(), data_);
  EXPECT_EQ(files_below(directory_.path).size(), 1u) << "nothing is left beside it";
}

TEST_F(PipelineFileTest, is_of_one_shader_on_one_driver) {
  file().write(data_);
  EXPECT_TRUE(file("driver").read().empty()) << "of as many letters as `device`";
  EXPECT_TRUE(file("device", loop_shader(false)).read().empty());
  EXPECT_TRUE(file("device", loop_shader(true)).read().empty());
  Shader same_interface = xor_shader();
  same_interface.words.back() ^= 1;
  EXPECT_TRUE(file("device", same_interface).read().empty());
}

TEST_F(PipelineFileTest, is_passed_over_when_any_byte_is_wrong_or_missing) {
  file().write(data_);
  const auto path = files_below(directory_.path).at(0);
  std::string text(fs::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto put = [&](const std::string& bytes) { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 0x10;
    put(changed);
    EXPECT_TRUE(file().read().empty()) << i;
    put(text.substr(0, i));
    EXPECT_TRUE(file().read().empty()) << i;
  }
  put(text + "x");
  EXPECT_TRUE(file().read().empty());
  put(text);
  EXPECT_EQ(file().read(), data_);
}

TEST_F(PipelineFileTest, that_is_moved_to_another_name_is_passed_over) {
  file().write(data_);
  const auto path = files_below(directory_.path).at(0);
  file("other").write(data_);
  for (const auto& other : files_below(directory_.path)) {
    if (other != path) fs::rename(other, path);
  }
  EXPECT_TRUE(file().read().empty());
}

TEST_F(PipelineFileTest, goes_when_there_are_too_many) {
  // It is not looked at every time, but often enough.
  for (int i = 0; i < 1200; ++i) file(std::to_string(i)).write({std::byte{1}});
  EXPECT_LT(files_below(directory_.path).size(), 1100u);
  EXPECT_FALSE(file("1199").read().empty()) << "the newest stays";
}

std::string contents_of(const fs::path& path) {
  std::string text(fs::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary | std::ios::trunc) << text; }

void make_old(const fs::path& path) { fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * 365)); }

std::size_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  status >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

const std::string kDigits = "0123456789abcdef0123456789abcdef";

TEST_F(PipelineFileTest, cleaning_leaves_every_file_that_is_not_ours) {
  const fs::path folder = directory_.path / "pipelines";
  fs::create_directories(folder / "a folder");
  const std::vector<std::string> theirs = {"thesis.tex", "device-" + kDigits,     kDigits + ".part",
                                           ".part",      "x-" + kDigits + ".txt", "-" + kDigits};
  for (const std::string& name : theirs) write(folder / name, "years of work");
  write(folder / "outside", std::string(CacheFolder::kMagic) + "reached by a link");
  fs::create_symlink(folder / "outside", folder / ("link-" + kDigits));
  for (const std::string& name : theirs) make_old(folder / name);
  for (int i = 0; i < 1200; ++i) write(folder / ("user file " + std::to_string(i)), "");
  for (int i = 0; i < 1200; ++i) file(std::to_string(i)).write({std::byte{1}});
  CacheFolder::open(folder)->clean();
  for (const std::string& name : theirs) EXPECT_EQ(contents_of(folder / name), "years of work") << name;
  EXPECT_TRUE(fs::is_symlink(folder / ("link-" + kDigits)));
  EXPECT_TRUE(fs::exists(folder / "outside"));
  EXPECT_TRUE(fs::exists(folder / "a folder"));
  std::size_t ours = 0, users = 0;
  for (const fs::path& path : files_below(folder)) {
    users += path.filename().string().find("user file ") == 0 ? 1 : 0;
    ours += fs::is_symlink(path) || contents_of(path).find(CacheFolder::kMagic) != 0 || path.filename() == "outside" ? 0 : 1;
  }
  EXPECT_EQ(users, 1200u);
  EXPECT_LE(ours, 1000u);
  EXPECT_GE(ours, 800u);
}

TEST_F(PipelineFileTest, is_not_written_over_what_is_not_ours) {
  file().write(data_);
  const fs::path path = files_below(directory_.path).at(0);
  const fs::path outside = directory_.path / "outside";
  fs::remove(path);
  for (const auto draft : {CacheFolder::Draft::kUnnamedIfPossible, CacheFolder::Draft::kNamed}) {
    const auto put = [&] {
      CacheFolder::open(path.parent_path())->put(path.filename(), std::string(CacheFolder::kMagic) + "entry", draft);
    };
    write(path, "a user's file");
    put();
    EXPECT_EQ(contents_of(path), "a user's file");
    fs::remove(path);

    for (const std::string& linked : {std::string("linked to"), std::string(CacheFolder::kMagic) + "an entry elsewhere"}) {
      write(outside, linked);
      fs::create_symlink(outside, path);
      put();
      EXPECT_TRUE(fs::is_symlink(path));
      EXPECT_EQ(contents_of(outside), linked);
      fs::remove(path);
    }

    fs::create_directory(path);
    put();
    EXPECT_TRUE(fs::is_directory(path));
    fs::remove(path);

    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    put();
    EXPECT_TRUE(file().read().empty()) << "and nothing waits for the other end";
    EXPECT_TRUE(fs::is_fifo(path));
    fs::remove(path);
    EXPECT_EQ(files_below(path.parent_path()).size(), 0u) << "no draft stays";
  }
}

TEST_F(PipelineFileTest, replaces_an_entry_of_ours_and_nothing_that_is_shorter_than_its_first_line) {
  for (const auto draft : {CacheFolder::Draft::kUnnamedIfPossible, CacheFolder::Draft::kNamed}) {
    const auto folder = CacheFolder::make(directory_.path / "pipelines");
    const std::string name = "device-" + kDigits;
    const auto put = [&](const std::string& text) { folder->put(name, std::string(CacheFolder::kMagic) + text, draft); };
    const auto held = [&] { return contents_of(directory_.path / "pipelines" / name).substr(CacheFolder::kMagic.size()); };
    put("first");
    EXPECT_EQ(held(), "first");
    put("second");
    EXPECT_EQ(held(), "second");
    for (const std::string start : {"", "vyre pip", "vyre pipeline 2\n"}) {
      write(directory_.path / "pipelines" / name, start);
      put("third");
      EXPECT_EQ(contents_of(directory_.path / "pipelines" / name), start);
    }
    write(directory_.path / "pipelines" / name, std::string(CacheFolder::kMagic));
    put("third");
    EXPECT_EQ(held(), "third");
    EXPECT_EQ(files_below(directory_.path).size(), 1u);
    fs::remove_all(directory_.path / "pipelines");
  }
}

TEST_F(PipelineFileTest, of_another_owner_is_neither_read_nor_replaced_nor_removed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  file().write(data_);
  const fs::path path = files_below(directory_.path).at(0);
  const fs::path draft = path.parent_path() / (kDigits + ".part");
  write(draft, std::string(CacheFolder::kMagic));
  for (const fs::path& each : {path, draft}) ASSERT_EQ(chown(each.c_str(), 12345, 12345), 0);
  const std::string before = contents_of(path);
  EXPECT_TRUE(file().read().empty());
  const auto folder = CacheFolder::open(path.parent_path());
  for (const auto how : {CacheFolder::Draft::kUnnamedIfPossible, CacheFolder::Draft::kNamed}) {
    folder->put(path.filename(), std::string(CacheFolder::kMagic) + "entry", how);
  }
  EXPECT_EQ(contents_of(path), before);
  folder->clean();
  EXPECT_TRUE(fs::exists(draft));
}

TEST_F(PipelineFileTest, folder_is_made_for_its_owner_alone) {
  file().write(data_);
  EXPECT_EQ(fs::status(directory_.path / "pipelines").permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(files_below(directory_.path).at(0)).permissions() & (fs::perms::group_all | fs::perms::others_all), fs::perms::none);
}

TEST_F(PipelineFileTest, of_any_size_with_another_header_is_not_read_whole) {
  file().write(data_);
  const fs::path path = files_below(directory_.path).at(0);
  const std::string good = contents_of(path);
  // A sparse file of 200 MiB that begins as ours: what it holds is not what its header says.
  fs::resize_file(path, 200u << 20);
  const std::size_t before = resident_bytes();
  EXPECT_TRUE(file().read().empty());
  EXPECT_LT(resident_bytes(), before + (16u << 20));
  write(path, good);
  EXPECT_EQ(file().read(), data_);
}

TEST_F(PipelineFileTest, drafts_go_when_the_process_that_wrote_them_has_ended) {
  const auto folder = CacheFolder::make(directory_.path / "pipelines");
  const fs::path left = directory_.path / "pipelines" / (kDigits + ".part");
  const fs::path begun = directory_.path / "pipelines" / (std::string(32, 'a') + ".part");
  const fs::path users = directory_.path / "pipelines" / (std::string(32, 'b') + ".part");
  write(left, std::string(CacheFolder::kMagic) + "half of an ent");
  write(begun, std::string(CacheFolder::kMagic));
  write(users, "");
  {
    // As a process does that is at work on them.
    const Descriptor held[] = {Descriptor(open(left.c_str(), O_RDONLY)), Descriptor(open(begun.c_str(), O_RDONLY))};
    for (const auto& file : held) ASSERT_EQ(flock(*file, LOCK_EX), 0);
    folder->clean();
    EXPECT_EQ(files_below(directory_.path).size(), 3u);
  }
  folder->clean();
  EXPECT_EQ(files_below(directory_.path), std::vector{users});
}

std::string entry(std::uint64_t letter, std::uint64_t thousands) {
  return std::string(CacheFolder::kMagic) + std::string(20'000 + 1000 * thousands, static_cast<char>('a' + letter));
}

// A process that writes entries is killed at a random point, two hundred times.
void kill_writers(const fs::path& path, CacheFolder::Draft draft) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    int progress[2];
    ASSERT_EQ(pipe(progress), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto folder = CacheFolder::make(path);
      for (std::uint64_t i = 0;; ++i) {
        folder->put(std::to_string(i % 8) + "-" + kDigits, entry(i % 8, i % 5), draft);
        if (::write(progress[1], "x", 1) != 1) _exit(1);
      }
    }
    close(progress[1]);
    std::string told(1 + random() % 20, ' ');
    for (char& one : told) ASSERT_EQ(::read(progress[0], &one, 1), 1);
    // Somewhere within the next entry.
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 300);
    while (std::chrono::steady_clock::now() < until) {
    }
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    close(progress[0]);
    const auto folder = CacheFolder::open(path);
    folder->clean();
    for (const fs::path& found : files_below(path)) {
      const std::string name = found.filename();
      if (draft == CacheFolder::Draft::kNamed && fs::file_size(found) == 0) {
        // Killed between its making and its first byte. Such a draft stays, since it may be any user's file.
        ASSERT_EQ(name.substr(32), ".part") << "in round " << round;
        fs::remove(found);
        continue;
      }
      ASSERT_EQ(name.size(), 34u) << name << " in round " << round;
      const std::string text = contents_of(found);
      ASSERT_EQ(text, entry(name[0] - '0', (text.size() - 20'016) / 1000)) << name << " in round " << round;
    }
  }
  EXPECT_GE(files_below(path).size(), 4u) << "they wrote entries";
}

TEST_F(PipelineFileTest, processes_that_are_killed_leave_no_litter_and_no_bad_entry) {
  for (const auto draft : {CacheFolder::Draft::kUnnamedIfPossible, CacheFolder::Draft::kNamed}) {
    kill_writers(directory_.path / std::to_string(static_cast<int>(draft)), draft);
  }
}

}  // namespace
}  // namespace vyre::test
